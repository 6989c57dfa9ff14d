import { CLOSE, type CloseReason } from '@device-insights/contract/close-codes';
import { FRAME_ERRORS, type FrameErrorCode } from '@device-insights/contract/ingest';
import { registerLevel, registerTotal, registerTotals } from '@device-insights/fanout/platform/operations';
import type { Registry } from 'prom-client';

/** Counts of the devices' sockets of one gateway since its start. */
export class IngestCounters {
  /** Frames whose samples were taken. */
  frames = 0;
  /** Frames that were refused, by the code that their device was told, or would have been. */
  readonly refusedFrames = new Map<FrameErrorCode, number>();
  /** Devices that were not admitted, by the reason that they were told. */
  readonly refusedDevices = new Map<CloseReason, number>();
}

/** Source of the metrics of the devices' sockets. */
interface Measured {
  readonly connections: number;
  readonly sessions: number;
  readonly counters: IngestCounters;
}

/** Registers what devices send and what becomes of it. */
export function registerIngestMetrics(registry: Registry, ingest: Measured): void {
  const { counters } = ingest;
  const sessions = 'Open sessions of this gateway, including those without a connection';
  registerLevel(registry, 'device_insights_ingest_connections', 'Open sockets of devices', () => ingest.connections);
  registerLevel(registry, 'device_insights_ingest_sessions', sessions, () => ingest.sessions);
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
