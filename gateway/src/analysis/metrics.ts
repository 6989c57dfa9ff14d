import { registerLevel, registerTotal } from '@device-insights/fanout/platform/operations';
import type { Registry } from 'prom-client';
import type { CoreLoad } from './core-load.js';

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
