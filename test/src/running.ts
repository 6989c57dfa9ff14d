import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** A key of the account `default` of every service that is started here. */
export const KEY = 'svc_0123456789abcdefghijABCDEFGHIJ';

const fileOf = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** What a command printed, and how it ended. */
export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function collect(child: ChildProcess, stream: 'stdout' | 'stderr'): () => string {
  let text = '';
  child[stream]?.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  return () => text;
}

function launch(script: string, args: readonly string[], env: Readonly<Record<string, string>>): ChildProcess {
  const { PATH = '', HOME = '' } = process.env;
  return spawn(process.execPath, [fileOf(script), ...args], {
    env: { PATH, HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Runs a command of the gateway to its end. */
export async function run(
  script: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Outcome> {
  const child = launch(script, args, env);
  const [stdout, stderr] = [collect(child, 'stdout'), collect(child, 'stderr')];
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout: stdout(), stderr: stderr() };
}

/** A service that runs as a process of its own. */
export class Running {
  readonly #child: ChildProcess;
  readonly #stderr: () => string;

  private constructor(
    child: ChildProcess,
    stderr: () => string,
    readonly url: string,
    readonly banner: readonly string[],
  ) {
    this.#child = child;
    this.#stderr = stderr;
  }

  /** Starts one on a free port and waits until it listens. */
  static async start(env: Readonly<Record<string, string>>): Promise<Running> {
    const child = launch('gateway/dist/main.js', [], { PORT: '0', BOOTSTRAP_API_KEY: KEY, LOG_LEVEL: 'warn', ...env });
    const stderr = collect(child, 'stderr');
    const banner: string[] = [];
    for await (const line of createInterface({ input: child.stdout ?? process.stdin })) {
      banner.push(line);
      const url = /^listening on (\S+)$/.exec(line)?.[1];
      if (url) return new Running(child, stderr, url, banner);
    }
    throw new Error(`the service did not start:\n${banner.join('\n')}\n${stderr()}`);
  }

  get wsUrl(): string {
    return this.url.replace('http', 'ws');
  }

  get log(): string {
    return this.#stderr();
  }

  get pid(): number {
    if (this.#child.pid === undefined) throw new Error('the service has no process');
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

  /** A JSON request with the default key. */
  async call<T>(method: string, path: string, body?: unknown, key = KEY): Promise<{ status: number; body: T }> {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: (text === '' ? null : JSON.parse(text)) as T };
  }
}

/** An empty folder, removed after the test. */
export function temporaryFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'device-insights-test-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
