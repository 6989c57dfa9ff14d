import { freePort } from '@device-insights/fanout/test-redis';
import { startFanoutNode } from '../fanout-node.js';
import { Running } from '../running.js';
import type { ServerProcess } from '../server-process.js';

/** A server whose address stays the same when it is killed and started again. */
export class Place<T extends ServerProcess = ServerProcess> {
  #process: T | null = null;
  #log = '';

  private constructor(
    readonly url: string,
    /** Address of its health check. */
    readonly healthUrl: string,
    private readonly launch: () => Promise<T>,
  ) {}

  /** A gateway with this environment, started. */
  static async gateway(env: Readonly<Record<string, string>>): Promise<Place<Running>> {
    const { ports, url } = await addresses();
    const healthUrl = `${url}/v1/stream/health`;
    return new Place(url, healthUrl, () => Running.start({ ...env, ...ports })).start();
  }

  /** A stand-alone fan-out node, started. */
  static async node(env: Readonly<Record<string, string>>): Promise<Place> {
    const { ports, url, operationsUrl } = await addresses();
    const healthUrl = `${operationsUrl}/healthz`;
    return new Place(url, healthUrl, () => startFanoutNode({ ...env, ...ports })).start();
  }

  get wsUrl(): string {
    return this.url.replace('http', 'ws');
  }

  get process(): T {
    if (!this.#process) throw new Error(`nothing runs at ${this.url}`);
    return this.#process;
  }

  get runs(): boolean {
    return this.#process !== null;
  }

  /** Everything that was logged here. */
  get log(): string {
    return this.#log + (this.#process?.log ?? '');
  }

  async start(): Promise<this> {
    this.#process = await this.launch();
    return this;
  }

  /** Ends it; returns the exit code. */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
    const code = await this.process.end(signal);
    this.#log = this.log;
    this.#process = null;
    return code;
  }

  async restart(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    await this.end(signal);
    await this.start();
  }

  freeze(frozen: boolean): void {
    process.kill(this.process.pid, frozen ? 'SIGSTOP' : 'SIGCONT');
  }

  async close(): Promise<void> {
    if (this.#process) await this.end('SIGKILL');
  }
}

async function addresses() {
  const ports = { PORT: `${await freePort()}`, METRICS_PORT: `${await freePort()}` };
  const [url, operationsUrl] = Object.values(ports).map((port) => `http://127.0.0.1:${port}`) as [string, string];
  return { ports, url, operationsUrl };
}
