import type { Core } from '@device-insights/dsp-wasm';
import { registerLevel, registerTotal } from '@device-insights/fanout/platform/operations';
import type { Registry } from 'prom-client';

/** A signal core and its cost: measured around its calls, live and offline. */
export class CoreLoad {
  #coreMs = 0;
  #sessionSeconds = 0;

  constructor(readonly core: Core) {}

  /** Time spent in the core, seconds. */
  get coreSeconds(): number {
    return this.#coreMs / 1000;
  }

  /** Data time analysed, summed over the sessions, seconds. */
  get sessionSeconds(): number {
    return this.#sessionSeconds;
  }

  /** Runs a call of the core and counts its time. */
  time<T>(call: () => T): T {
    const start = performance.now();
    const result = call();
    this.#coreMs += performance.now() - start;
    return result;
  }

  /** Counts the progress of a session's data time from one instant to another, seconds; losses are not counted. */
  passed(from: number, to: number): void {
    if (to > from && to - from < LOSS_S) this.#sessionSeconds += to - from;
  }
}

/** A longer step of data time than this contains no data, seconds. */
const LOSS_S = 10;

/** Registers the metrics of the signal core: its sessions, its time, and the data time that it analysed. */
export function registerAnalysisMetrics(registry: Registry, load: CoreLoad): void {
  registerLevel(
    registry,
    'device_insights_analysis_sessions',
    'Sessions in the signal core',
    () => load.core.openSessions,
  );
  const totals = [
    ['device_insights_analysis_core_seconds_total', 'Time spent in the signal core', () => load.coreSeconds],
    [
      'device_insights_analysis_session_seconds_total',
      'Data time analysed, summed over sessions',
      () => load.sessionSeconds,
    ],
    [
      'device_insights_analysis_lane_points_total',
      'Points in the SIMD lanes of the signal core that are reserved for signals',
      () => load.core.lanes.points,
    ],
    [
      'device_insights_analysis_filled_lane_points_total',
      'Points of device_insights_analysis_lane_points_total that carried a signal',
      () => load.core.lanes.filled,
    ],
  ] as const;
  for (const [name, help, read] of totals) registerTotal(registry, name, help, read);
}
