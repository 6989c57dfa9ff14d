import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Clock } from '@device-insights/fanout/platform/clock';
import type { CoreLoad } from './analysis/core-load.js';
import type { Ingest } from './ingest/ingest.js';
import type { Publisher } from './publisher/publisher.js';

interface Parts {
  readonly ingest: Pick<Ingest, 'connections' | 'sessions'>;
  readonly publisher: Pick<Publisher, 'queued'>;
  readonly core: Pick<CoreLoad, 'coreSeconds' | 'sessionSeconds'>;
  readonly fanout: { readonly connections: number } | null;
  readonly maxSessions: number;
  readonly clock: Clock;
}

/** CPU time and delays are measured since the last call, at least this long ago, ms. */
const FRESH_MS = 1000;
/** Interval of the timer by which the delay of the event loop is measured, ms. */
const RESOLUTION_MS = 10;

/** The load of this process. */
export type Load = Awaited<ReturnType<ReturnType<typeof loadOf>['look']>>;

/** Measures the load of this process, for the dashboard. */
export function loadOf({ ingest, publisher, core, fanout, maxSessions, clock }: Parts) {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  let since = clock.monotonic();
  let cpu = process.cpuUsage();
  let busy = { cpu: 0, event_loop_delay_ms: 0 };
  const measure = () => {
    delay.enable(); // From the first call on.
    const now = clock.monotonic();
    if (now - since < FRESH_MS) return busy;
    const { user, system } = process.cpuUsage(cpu);
    const lateMs = Math.max(0, delay.percentile(99) / 1e6 - RESOLUTION_MS);
    busy = { cpu: rounded((user + system) / 1000 / (now - since)), event_loop_delay_ms: rounded(lateMs) };
    cpu = process.cpuUsage();
    since = now;
    delay.reset();
    return busy;
  };
  return {
    look: async () => ({
      ...measure(),
      memory_bytes: process.memoryUsage.rss(),
      uptime_s: Math.round(process.uptime()),
      devices: ingest.connections,
      sessions: ingest.sessions,
      max_sessions: maxSessions,
      subscribers: fanout?.connections ?? null,
      waiting_readings: publisher.queued,
      core_seconds: core.coreSeconds,
      core_session_seconds: core.sessionSeconds,
    }),
    close: () => delay.disable(),
  };
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
