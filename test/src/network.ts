import { execFileSync, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { aptInstall } from '@device-insights/fanout/test-apt';

/** Why this machine cannot have hosts of its own. */
export class NoNetwork extends Error {
  override readonly name = 'NoNetwork';
}

/** Hosts on one network: network namespaces of Linux behind a bridge, on addresses for tests of networks (RFC 2544). */
export class Network {
  static #count = 0;
  /** Another one each time: what the kernel has yet to remove keeps its name. */
  readonly #name = `di${process.pid}n${++Network.#count}`;
  readonly #subnet = `198.18.${randomInt(256)}`;
  readonly #close = () => this.close();

  private constructor(private readonly hosts: readonly string[]) {
    process.once('exit', this.#close);
  }

  /**
   * Makes a network of these hosts, which this process reaches too. Installs the program ip if it is missing.
   * @throws NoNetwork if the machine allows no namespaces
   */
  static open(hosts: readonly string[]): Network {
    const network = new Network(hosts);
    try {
      network.#open();
      return network;
    } catch (error) {
      network.close();
      throw new NoNetwork(`network namespaces need Linux, root and the program ip: ${String(error).trim()}`);
    }
  }

  address(host: string): string {
    return `${this.#subnet}.${11 + this.hosts.indexOf(host)}`;
  }

  /** The words that a command begins with, to run on a host. */
  on(host: string): readonly string[] {
    return ['ip', 'netns', 'exec', `${this.#name}-${host}`];
  }

  /** Takes the cable out: nothing that is sent arrives any more, in both directions, and nobody is told. */
  cut(host: string): void {
    ip('link', 'set', this.#cable(host), 'down');
  }

  close(): void {
    process.off('exit', this.#close);
    for (const host of this.hosts) attempt('netns', 'del', `${this.#name}-${host}`);
    attempt('link', 'del', this.#name);
  }

  #cable(host: string): string {
    return `${this.#name}-${this.hosts.indexOf(host)}`;
  }

  #open(): void {
    provideIp();
    ip('link', 'add', this.#name, 'type', 'bridge');
    ip('addr', 'add', `${this.#subnet}.1/24`, 'dev', this.#name);
    ip('link', 'set', this.#name, 'up');
    for (const host of this.hosts) {
      const [space, cable] = [`${this.#name}-${host}`, this.#cable(host)];
      ip('netns', 'add', space);
      ip('link', 'add', cable, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', space);
      ip('link', 'set', cable, 'master', this.#name, 'up');
      ip('-n', space, 'addr', 'add', `${this.address(host)}/24`, 'dev', 'eth0');
      for (const device of ['lo', 'eth0']) ip('-n', space, 'link', 'set', device, 'up');
    }
  }
}

function provideIp(): void {
  if (spawnSync('ip', ['-V']).error === undefined) return;
  console.log('ip is not on the PATH: installing iproute2 with apt-get');
  aptInstall('iproute2');
}

function ip(...words: string[]): void {
  execFileSync('ip', words, { stdio: 'pipe', encoding: 'utf8' });
}

/** What was not made need not be removed. */
function attempt(...words: string[]): void {
  try {
    ip(...words);
  } catch {}
}
