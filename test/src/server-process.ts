import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A file of the repository. */
export const fileOf = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** Starts a script of the repository, with these variables and no others of ours. */
export function launch(script: string, args: readonly string[], env: Readonly<Record<string, string>>): ChildProcess {
  const { PATH = '', HOME = '' } = process.env;
  return spawn(process.execPath, [fileOf(script), ...args], {
    env: { PATH, HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** What a process has said so far. */
export function collect(child: ChildProcess, stream: 'stdout' | 'stderr'): () => string {
  let text = '';
  child[stream]?.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  return () => text;
}

/** A server that runs as a process of its own. */
export class ServerProcess {
  readonly #child: ChildProcess;
  readonly #said: () => string;

  /** `said` tells what it has logged. */
  constructor(
    child: ChildProcess,
    said: () => string,
    readonly url: string,
    /** Where `/metrics` and `/healthz` are; empty where they are not served. */
    readonly operationsUrl: string,
  ) {
    this.#child = child;
    this.#said = said;
  }

  get wsUrl(): string {
    return this.url.replace('http', 'ws');
  }

  get log(): string {
    return this.#said();
  }

  get pid(): number {
    if (this.#child.pid === undefined) throw new Error('the server has no process');
    return this.#child.pid;
  }

  /** Sends a signal and waits for the end of the process; its exit code, null where the signal ended it. */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
    const { exitCode, signalCode } = this.#child;
    if (exitCode !== null || signalCode !== null) return exitCode;
    const ended = once(this.#child, 'close');
    this.#child.kill(signal);
    const [code] = (await ended) as [number | null];
    return code;
  }

  /** Status of `/healthz`. */
  async healthz(): Promise<number> {
    return (await fetch(`${this.operationsUrl}/healthz`)).status;
  }

  /** Value of a metric by its name and labels as Prometheus writes them; 0 where it has none. */
  async metric(name: string): Promise<number> {
    const text = await (await fetch(`${this.operationsUrl}/metrics`)).text();
    const line = text.split('\n').find((it) => it.startsWith(`${name} `));
    return line === undefined ? 0 : Number(line.slice(name.length));
  }
}
