import { registerTotal } from '@device-insights/fanout/operations';
import { Gauge, type Registry } from 'prom-client';
import type { CoreLoad } from './core-load.js';

/** Registers what the signal core does: its sessions, its time, and the data time that it got through. */
export function registerAnalysisMetrics(registry: Registry, load: CoreLoad): void {
  new Gauge({
    name: 'analysis_sessions',
    help: 'Sessions in the signal core',
    registers: [registry],
    collect() {
      this.set(load.core.openSessions);
    },
  });
  const totals = [
    ['analysis_core_seconds_total', 'Time spent in the signal core', () => load.coreSeconds],
    ['analysis_session_seconds_total', 'Data time analysed, summed over sessions', () => load.sessionSeconds],
    [
      'analysis_lane_points_total',
      'Points in lanes of the signal core that stand for signals',
      () => load.core.lanes.points,
    ],
    ['analysis_filled_lane_points_total', 'Those of them that carried a signal', () => load.core.lanes.filled],
  ] as const;
  for (const [name, help, read] of totals) registerTotal(registry, name, help, read);
}
