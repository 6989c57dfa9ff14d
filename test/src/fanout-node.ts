import { createInterface } from 'node:readline';
import { collect, launch, ServerProcess } from './server-process.js';

/** Starts a stand-alone fan-out node on free ports and waits until it listens. */
export async function startFanoutNode(env: Readonly<Record<string, string>>): Promise<ServerProcess> {
  const defaults = { HOST: '127.0.0.1', PORT: '0', METRICS_PORT: '0', DRAIN_MS: '200' };
  const child = launch('fanout/dist/main.js', [], { ...defaults, ...env, LOG_LEVEL: 'info' });
  const [stdout, stderr] = [collect(child, 'stdout'), collect(child, 'stderr')];
  for await (const line of createInterface({ input: child.stdout ?? process.stdin })) {
    if (!line.includes('fan-out node is listening')) continue;
    const { port, metricsPort } = JSON.parse(line) as { port: number; metricsPort: number };
    child.stdout?.resume(); // Leaving the loop pauses it.
    return new ServerProcess(child, stdout, `http://127.0.0.1:${port}`, `http://127.0.0.1:${metricsPort}`);
  }
  throw new Error(`the fan-out node did not start:\n${stdout()}\n${stderr()}`);
}
