import { runLoad } from '@device-insights/fanout/bench';
import { disturbDisk, probeDisk, type SyncTimes } from './disk.js';
import { KEY, type MeasuredGateway } from './gateway.js';

/** The fields of the load generator's output about devices that are used here. */
export interface IngestResult {
  readonly window_s: number;
  readonly data_seconds: number;
  readonly server_cpu_s: number;
  readonly server_busy: number;
  readonly foreign_on_server_core: number;
  readonly client_busy: number;
  readonly insights: number;
  readonly delay_ms?: { readonly all: Delay | null; readonly unmatched: number; readonly unknown: number };
  readonly errors: Readonly<Record<string, number>>;
}

interface Delay {
  readonly n: number;
  readonly p50: number;
  readonly p99: number;
}

/** One run of live devices. */
export interface LiveResult extends IngestResult {
  readonly devices: number;
  /** p99 of the event loop's delay during the measurement, ms. */
  readonly loopP99: number;
  readonly disk: SyncTimes;
}

/** Time until windows are full and the work of connecting has ended. */
const WARM_S = 15;
const LENGTH_S = 10;

/**
 * Runs devices that send frames of 200 ms of a PPG channel, with one subscriber, and measures after all are connected and warm.
 *
 * @param busy another process writes and syncs to the same disk meanwhile
 * @param spread the devices begin at any time of a second, as those of people do; otherwise within one frame, so that all their
 *   windows end together
 */
export async function runLive(
  loadgen: string,
  gateway: MeasuredGateway,
  devices: number,
  { busy = false, delays = true, spread = false } = {},
): Promise<LiveResult> {
  const quiet = probeDisk(gateway.folder);
  let disturbed: ReturnType<typeof disturbDisk> | null = null;
  let loopP99 = Promise.resolve(Number.NaN);
  const lag = () => gateway.metric('device_insights_nodejs_eventloop_lag_p99_seconds');
  const result = await runLoad<IngestResult>(
    loadgen,
    'ingest',
    gateway.process.pids,
    [
      ...gateway.devices(devices),
      ...liveFlags(gateway),
      ...(spread ? ['-spread', '1s'] : []),
      ...(delays ? restFlags(gateway) : []),
    ],
    (event) => {
      if (event === 'connected' && busy) disturbed = disturbDisk(gateway.folder);
      if (event !== 'connected') loopP99 = lag(); // The first reading starts the count.
    },
  );
  const disk = await (disturbed as ReturnType<typeof disturbDisk> | null)?.end();
  return { ...result, devices, loopP99: (await loopP99) * 1000, disk: disk ?? quiet };
}

function liveFlags(gateway: MeasuredGateway): string[] {
  const feed = gateway.url('ws', `/stream/subscribe?api_key=${KEY}`);
  return ['-sub-url', feed, '-warm', `${WARM_S}s`, '-dur', `${LENGTH_S}s`, '-connect-limit', '1m'];
}

function restFlags(gateway: MeasuredGateway): string[] {
  return ['-rest', gateway.url('http', '/v1/sessions/{session}/insights'), '-bearer', KEY];
}

/** CPU time of the whole process for a second of one session, ms. */
export function cpuOf({ server_cpu_s, data_seconds }: IngestResult): number {
  return (server_cpu_s / data_seconds) * 1000;
}

/** Delay that later and missing insights count as, ms. */
const NEVER_MS = 60_000;

/** Delay of the insights; it grows without limit if devices are not served at their pace. */
export function delayOf({ delay_ms, data_seconds, window_s, devices }: LiveResult, share: 'p50' | 'p99'): number {
  return data_seconds < 0.95 * window_s * devices ? NEVER_MS : (delay_ms?.all?.[share] ?? NEVER_MS);
}
