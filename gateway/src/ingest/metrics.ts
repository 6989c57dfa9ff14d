import { CLOSE, type CloseReason } from '@device-insights/contract/close-codes';
import { FRAME_ERRORS } from '@device-insights/contract/ingest';
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
      'Open sessions of this gateway, including those without a connection',
      () => ingest.sessions,
    ],
  ] as const;
  for (const [name, help, read] of levels) registerLevel(registry, name, help, read);
  registerTotal(registry, 'device_insights_ingest_frames_total', 'Accepted frames', () => counters.frames);
  registerTotals(
    registry,
    'device_insights_ingest_frames_refused_total',
    'Refused frames, by cause',
    'cause',
    FRAME_ERRORS,
    () => counters.refusedFrames,
  );
  registerTotals(
    registry,
    'device_insights_ingest_refused_total',
    'Devices that were not admitted, by reason of the close code',
    'reason',
    Object.keys(CLOSE) as CloseReason[],
    () => counters.refusedDevices,
  );
}
