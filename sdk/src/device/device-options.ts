import { atLeast, DEVICE_ID, DEVICE_ID_MUST, matching, type Rules } from '../options.js';
import type { ConnectionStatus } from '../socket/connection.js';
import type { NoticeMessage, RefusedMessage } from './messages.js';

/** Options of a device that a client makes; the client adds its own address, key and connection settings. */
export interface DeviceSettings {
  /** External device identifier: 1 to 128 of `A-Z a-z 0-9 . _ : -`. */
  readonly deviceId: string;
  /** UUID of a device model of the key's account. */
  readonly deviceModelId: string;
  /**
   * Maximum number of bytes of encoded samples that are kept while the service cannot be reached; beyond it the oldest are dropped.
   * Default 8 MiB.
   */
  readonly bufferBytes?: number;
  /**
   * Maximum wait of `ready()` for a first connection, over all attempts, ms. The device continues to try after it.
   * Default 10,000.
   */
  readonly connectWithinMs?: number;
  /**
   * Called at each change of the device's state, with the last error and the time of the next attempt. What this or
   * another of these functions throws stops the device, and `closed` resolves with it.
   */
  readonly onStatus?: (status: ConnectionStatus) => void;
  /** Called for every frame that the service refused. */
  readonly onRefused?: (refusal: RefusedMessage) => void;
  /** Called when a problem reduces the value of the data, and when the problem is over. */
  readonly onNotice?: (notice: NoticeMessage) => void;
}

export const SETTINGS: Rules<DeviceSettings> = {
  deviceId: matching(DEVICE_ID, DEVICE_ID_MUST),
  deviceModelId: matching(/./, 'the id of a device model'),
  bufferBytes: atLeast(0),
  connectWithinMs: atLeast(0),
  onStatus: true,
  onRefused: true,
  onNotice: true,
};

/** The counters of a device since it was created. */
export interface DeviceCounters {
  /** Connections after the first that became ready. */
  reconnects: number;
  /** Frames that were sent, including repetitions. */
  framesSent: number;
  /** Frames that the service refused. */
  framesRefused: number;
  /**
   * Samples (values) that were lost: the oldest if the buffer was full, and those that the device still had when it
   * stopped. Without a connection these are all that the service had not acknowledged; it may have received some of
   * them.
   */
  samplesDropped: number;
}
