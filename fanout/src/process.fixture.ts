import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('main.js', import.meta.url));

/** A stand-alone node as a separate process, on free ports of 127.0.0.1. */
export interface TestNode {
  readonly child: ChildProcess;
  readonly url: string;
  /** Base of /metrics and /healthz. */
  readonly operations: string;
}

/** Starts the program with only this environment and these options; it ends with this process at the latest. */
export function launchNode(env: NodeJS.ProcessEnv, ...options: string[]): ChildProcess {
  const child = spawn(process.execPath, [MAIN, ...options], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const killWithUs = () => child.kill('SIGKILL');
  process.once('exit', killWithUs);
  child.once('exit', () => process.off('exit', killWithUs));
  return child;
}

/** Starts a node; resolves once it listens. The caller must kill it. */
export async function startTestNode(env: NodeJS.ProcessEnv): Promise<TestNode> {
  const child = launchNode({ HOST: '127.0.0.1', PORT: '0', METRICS_PORT: '0', DRAIN_MS: '100', ...env });
  const { port, metricsPort } = await said(child, 'fan-out node is listening');
  return { child, url: `ws://127.0.0.1:${port}/stream/subscribe`, operations: `http://127.0.0.1:${metricsPort}` };
}

/** Resolves with the fields of the log line with the message `text`. */
function said(child: ChildProcess, text: string): Promise<Record<string, unknown>> {
  return new Promise((resolve, reject) => {
    let log = '';
    child.stderr?.on('data', (chunk) => {
      log += chunk;
      const line = log.split('\n').find((it) => it.includes(text) && it.endsWith('}'));
      if (line) resolve(JSON.parse(line));
    });
    child.once('exit', () => reject(new Error(`the node ended:\n${log}`)));
  });
}
