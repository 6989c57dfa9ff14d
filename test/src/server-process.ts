import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** The processes of the tests that still run, with the signals that end them. */
const CHILDREN = new Map<ChildProcess, NodeJS.Signals>();
process.once('exit', killChildren);

/** Registers a process that a test has started, so that it does not outlive the test's file. */
export function registered<Child extends ChildProcess>(child: Child, signal: NodeJS.Signals = 'SIGKILL'): Child {
  CHILDREN.set(child, signal);
  child.once('exit', () => CHILDREN.delete(child));
  return child;
}

/** Ends all registered processes that still run; returns their commands. */
export function killChildren(): string[] {
  const left = [...CHILDREN];
  CHILDREN.clear();
  for (const [child, signal] of left) child.kill(signal);
  return left.map(([{ spawnargs }]) => spawnargs.join(' '));
}

/** The text of a configuration with its texts replaced, each of which must occur. */
export function replaced(text: string, by: Readonly<Record<string, string>>): string {
  return Object.entries(by).reduce((result, [from, to]) => {
    if (!result.includes(from)) throw new Error(`the configuration has no ${JSON.stringify(from)}`);
    return result.replaceAll(from, to);
  }, text);
}

/** A file of the repository. */
export const fileOf = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/**
 * Starts a script of the repository, with only these environment variables.
 * @param descriptors limit of the process; default: that of this process
 * @param within words that the command begins with, such as those of a `Network`
 */
export function launch(
  script: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  descriptors?: number,
  within: readonly string[] = [],
): ChildProcess {
  const { PATH = '', HOME = '' } = process.env;
  const limit = descriptors === undefined ? '' : `ulimit -n ${descriptors} && `;
  return registered(
    spawn('sh', ['-c', `${limit}exec "$@"`, 'sh', ...within, process.execPath, fileOf(script), ...args], {
      env: { PATH, HOME, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  );
}

/** The output of a process so far. */
export function collect(child: ChildProcess, stream: 'stdout' | 'stderr'): () => string {
  let text = '';
  child[stream]?.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  return () => text;
}

/** Sends a signal to a process and waits for its end, unless it has ended; its exit code, null if a signal ended it. */
export async function ended(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const closed = once(child, 'close');
  child.kill(signal);
  const [code] = (await closed) as [number | null];
  return code;
}

/** A server that runs as a separate process. */
export class ServerProcess {
  /** `said` returns its log. */
  constructor(
    private readonly child: ChildProcess,
    private readonly said: () => string,
    readonly url: string,
    /** Address of `/metrics` and `/healthz`; empty if they are disabled. */
    readonly operationsUrl: string,
  ) {}

  get wsUrl(): string {
    return this.url.replace('http', 'ws');
  }

  get log(): string {
    return this.said();
  }

  get pid(): number {
    if (this.child.pid === undefined) throw new Error('the server has no process');
    return this.child.pid;
  }

  /** Sends a signal, without waiting. */
  signal(signal: 'SIGTERM'): void {
    this.child.kill(signal);
  }

  /** Sends a signal and waits for the end of the process; returns its exit code, null if the signal ended it. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
    return ended(this.child, signal);
  }

  /** Status of `/healthz`. */
  healthz(): Promise<number> {
    return this.check('healthz');
  }

  /** Status of one of the checks of the operations port. */
  async check(what: 'healthz' | 'readyz' | 'livez'): Promise<number> {
    return (await fetch(`${this.operationsUrl}/${what}`)).status;
  }

  /** What `/healthz` says is wrong, after its status; empty if it is 200. */
  async fault(): Promise<string> {
    const response = await fetch(`${this.operationsUrl}/healthz`);
    const reason = await response.text();
    return response.status === 200 ? '' : `${response.status}: ${reason.trim()}`;
  }

  /**
   * Value of a metric by its name and labels as Prometheus writes them; with the name alone, the sum over its labels; 0
   * if it does not exist.
   */
  async metric(name: string): Promise<number> {
    const text = await (await fetch(`${this.operationsUrl}/metrics`)).text();
    const lines = text.split('\n').filter((it) => it.startsWith(`${name} `) || it.startsWith(`${name}{`));
    return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
  }
}
