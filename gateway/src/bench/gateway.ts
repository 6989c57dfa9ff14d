import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openPort, type Running, startServer } from '@device-insights/fanout/bench';
import { freePort } from '@device-insights/fanout/test-redis';

/** The key of all devices and subscribers. */
export const KEY = `svc_${'b'.repeat(32)}`;
const MAIN = fileURLToPath(new URL('../main.js', import.meta.url));
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** Short, so that the sessions of one run have ended before the next one begins. */
const GRACE_MS = '1000';
const MOST_SESSIONS = '20000';

/** A folder on the measured disk: BENCH_DIR, or the disk of the repository. */
export function dataFolder(): string {
  const parent = process.env.BENCH_DIR ?? join(ROOT, '.cache/bench');
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, 'data-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  return folder;
}

/** A gateway as deployed, alone on its core, with a device model of one PPG channel of 100 Hz. */
export class MeasuredGateway {
  /** Device numbers are used only once, so that each run has its own sessions. */
  #devices = 0;

  private constructor(
    readonly process: Running,
    readonly metricsPort: number,
    readonly folder: string,
    readonly model: string,
  ) {}

  static async start(folder = dataFolder()): Promise<MeasuredGateway> {
    const [port, metricsPort] = [await freePort(), await freePort()];
    const running = await startServer(process.execPath, [...flagsOfStart(), ...nodeFlags(), MAIN], openPort(port), {
      PORT: `${port}`,
      METRICS_PORT: `${metricsPort}`,
      DATA_DIR: folder,
      BOOTSTRAP_API_KEY: KEY,
      MAX_SESSIONS: MOST_SESSIONS,
      SESSION_GRACE_MS: GRACE_MS,
      LOG_LEVEL: 'warn',
      DRAIN_MS: '0',
    });
    return new MeasuredGateway(running, metricsPort, folder, await makeModel(port));
  }

  url(scheme: 'http' | 'ws', path: string): string {
    return `${scheme}://127.0.0.1:${this.process.port}${path}`;
  }

  /** The load generator's flags for a number of new devices. */
  devices(count: number): string[] {
    const first = this.#devices;
    this.#devices += count;
    const query = `device_id=bench-{i}&device_model_id=${this.model}&api_key=${KEY}`;
    return ['-url', this.url('ws', `/stream/ingest?${query}`), '-d', `${count}`, '-first', `${first}`];
  }

  /** A metric without labels. The delay of the event loop counts from the previous reading. */
  async metric(name: string): Promise<number> {
    const text = await (await fetch(`http://127.0.0.1:${this.metricsPort}/metrics`)).text();
    return Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`${name} `))
        ?.split(' ')[1],
    );
  }

  async stop(): Promise<void> {
    await this.process.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Node's flags of `device-insights start`. */
function flagsOfStart(): string[] {
  const script = readFileSync(join(ROOT, 'gateway/package/device-insights'), 'utf8');
  const [, flags] = / exec node ((?:--\S+ )+)"\$home\/start\.js"/.exec(script) ?? [];
  if (!flags) throw new Error('gateway/package/device-insights has no "exec node FLAGS $home/start.js"');
  return flags.trim().split(' ');
}

/** BENCH_NODE contains flags for the gateway's Node, such as --cpu-prof. */
function nodeFlags(): string[] {
  return (process.env.BENCH_NODE ?? '').split(' ').filter(Boolean);
}

async function makeModel(port: number): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/v1/device-models`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      name: 'bench',
      modality_channels: [{ modality: 'ppg_green', sample_rate_hz: 100, bit_depth: 24, num_channels: 1 }],
    }),
  });
  if (!response.ok) throw new Error(`no device model: ${response.status} ${await response.text()}`);
  return ((await response.json()) as { id: string }).id;
}
