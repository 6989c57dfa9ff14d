import { registerLevel, registerTotal, registerTotals } from '@device-insights/fanout/platform/operations';
import type { Registry } from 'prom-client';
import type { Ingest } from './ingest.js';

/** Registers what devices send and what becomes of it. */
export function registerIngestMetrics(registry: Registry, ingest: Ingest): void {
  const { counters } = ingest;
  const levels = [
    ['device_insights_ingest_connections', 'Open sockets of devices', () => ingest.connections],
    [
      'device_insights_ingest_sessions',
      'Open sessions that this gateway serves, those without a connection included',
      () => ingest.sessions,
    ],
  ] as const;
  for (const [name, help, read] of levels) registerLevel(registry, name, help, read);
  registerTotal(registry, 'device_insights_ingest_frames_total', 'Frames that were taken', () => counters.frames);
  registerTotals(
    registry,
    'device_insights_ingest_frames_refused_total',
    'Frames that were refused, by cause',
    'cause',
    () => counters.refusedFrames,
  );
  registerTotals(
    registry,
    'device_insights_ingest_refused_total',
    'Devices that were given no session, by reason of the close code',
    'reason',
    () => counters.refusedDevices,
  );
}
