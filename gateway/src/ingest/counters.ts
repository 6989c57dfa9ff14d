import type { CloseReason } from '@device-insights/contract/close-codes';
import type { FrameErrorCode } from '@device-insights/contract/ingest';

/** Counts of the devices' sockets of one gateway since its start. */
export class IngestCounters {
  /** Frames whose samples were taken. */
  frames = 0;
  /** Frames that were refused, by the code that their device was told, or would have been. */
  readonly refusedFrames = new Map<FrameErrorCode, number>();
  /** Devices that were not admitted, by the reason that they were told. */
  readonly refusedDevices = new Map<CloseReason, number>();
}
