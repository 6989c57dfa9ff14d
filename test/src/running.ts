import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { collect, launch, ServerProcess } from './server-process.js';

/** A key of the account `default` of every service that is started here. */
export const KEY = 'svc_0123456789abcdefghijABCDEFGHIJ';

/** Output and exit code of a command. */
interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
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

/** A gateway that runs as a separate process. */
export class Running extends ServerProcess {
  private constructor(
    /** Its standard output until it listened. */
    readonly banner: readonly string[],
    ...parts: ConstructorParameters<typeof ServerProcess>
  ) {
    super(...parts);
  }

  /**
   * Starts one on a free port and waits until it listens. It has no dashboard unless `env` says so: the hash of the first
   * operator's password takes a quarter of the CPU time of a new store's first start.
   */
  static async start(
    env: Readonly<Record<string, string>>,
    descriptors?: number,
    within?: readonly string[],
  ): Promise<Running> {
    const defaults = { PORT: '0', BOOTSTRAP_API_KEY: KEY, DASHBOARD: 'off', LOG_LEVEL: 'warn' };
    const child = launch('gateway/dist/package/start.js', [], { ...defaults, ...env }, descriptors, within);
    const stderr = collect(child, 'stderr');
    const banner: string[] = [];
    let operations = '';
    for await (const line of createInterface({ input: child.stdout ?? process.stdin })) {
      banner.push(line);
      operations = /^metrics on (\S+)\/metrics$/.exec(line)?.[1] ?? operations;
      const url = /^listening on (\S+)$/.exec(line)?.[1];
      if (url) return new Running(banner, child, stderr, url, operations);
    }
    throw new Error(`the service did not start:\n${banner.join('\n')}\n${stderr()}`);
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

  /** The answer of `GET /v1/stream/health`. */
  async health(): Promise<{ ok: boolean; ingest: boolean; subscribe: boolean; reason?: string }> {
    return (await this.call<Awaited<ReturnType<Running['health']>>>('GET', '/v1/stream/health')).body;
  }
}

/** An empty folder, removed after the test. */
export function temporaryFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'device-insights-test-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 10 }) };
}
