import { createInterface } from 'node:readline';
import { collect, launch, ServerProcess } from './server-process.js';

/** Starts a stand-alone fan-out node on free ports and waits until it listens. */
export async function startFanoutNode(
  env: Readonly<Record<string, string>>,
  descriptors?: number,
  within?: readonly string[],
): Promise<ServerProcess> {
  const defaults = { HOST: '127.0.0.1', PORT: '0', METRICS_PORT: '0', DRAIN_MS: '200' };
  const all = { LOG_LEVEL: 'info', ...defaults, ...env };
  const child = launch('gateway/dist/package/fanout.js', [], all, descriptors, within);
  const log = collect(child, 'stderr');
  for await (const line of createInterface({ input: child.stderr ?? process.stdin })) {
    if (!line.includes('fan-out node is listening')) continue;
    const { port, metricsPort } = JSON.parse(line) as { port: number; metricsPort: number };
    child.stderr?.resume(); // Leaving the loop pauses it.
    return new ServerProcess(child, log, `http://${all.HOST}:${port}`, `http://${all.HOST}:${metricsPort}`);
  }
  throw new Error(`the fan-out node did not start:\n${log()}`);
}
