import type { Core } from '@device-insights/dsp-wasm';
import { registerTotal } from '@device-insights/fanout/operations';
import { Gauge, type Registry } from 'prom-client';
import type { CoreLoad } from './core-load.js';

/** Registers what the signal core does: its sessions, its time, and the data time that it got through. */
export function registerAnalysisMetrics(registry: Registry, core: Core, load: CoreLoad): void {
  new Gauge({
    name: 'analysis_sessions',
    help: 'Sessions in the signal core',
    registers: [registry],
    collect() {
      this.set(core.openSessions);
    },
  });
  const totals = [
    ['analysis_core_seconds_total', 'Time spent in the signal core', () => load.coreSeconds],
    ['analysis_session_seconds_total', 'Data time analysed, summed over sessions', () => load.sessionSeconds],
  ] as const;
  for (const [name, help, read] of totals) registerTotal(registry, name, help, read);
}
