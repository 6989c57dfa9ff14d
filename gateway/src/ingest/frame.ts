import type { FrameErrorCode } from '@device-insights/contract/ingest';
import { BYTES_PER_SAMPLE, type SampleRun } from '../analysis/sample-run.js';
import type { ModalityChannel } from '../store/store.js';

/**
 * A data frame of the ingest protocol (section 2), checked: `payload` holds `instants` whole instants of the channel.
 */
export interface Frame {
  /** Index of the channel in the session. */
  readonly channel: number;
  /** Number of the first instant; seq + instants is at most 2^32. */
  readonly seq: number;
  /** Device time of the first instant, ms since the epoch; null if the device has no clock. */
  readonly ts: number | null;
  readonly encoding: SampleRun['encoding'];
  readonly instants: number;
  /** Interleaved samples, little endian. */
  readonly payload: Uint8Array;
}

/**
 * Why a frame or message was refused: the first cause in the protocol's table, and a text that says how to correct it.
 */
export interface Fault {
  readonly fault: FrameErrorCode;
  readonly detail: string;
  readonly channel?: number;
  readonly seq?: number;
}

const HEADER_BYTES = 16;
/** Sequence numbers do not wrap: seq + n is at most this. */
const MAX_NUMBER = 2 ** 32;
/** Earliest plausible time of data: an earlier time is in seconds, or counts from power-on. */
export const EARLIEST_MS = Date.UTC(2000, 0, 1);

const BEFORE_2000 =
  'ts lies before 2000-01-01: give ms since the epoch, not seconds, in binary as a little-endian double; for times since power-on, connect with the clock parameter';

/**
 * Decodes a binary frame. Pure, never throws; the payload is a view of `bytes`.
 * @param channels the session's channels, in order of their index
 * @param earliest times before this one are refused, ms: `EARLIEST_MS` by the device's own clock
 */
export function decodeBinary(
  bytes: Uint8Array,
  channels: readonly ModalityChannel[],
  earliest: number = EARLIEST_MS,
): Frame | Fault {
  if (bytes.length > 0 && bytes[0] !== 1)
    return fault('bad_version', `byte 0 must be the version, 1; it is ${bytes[0]}`);
  const encoding = bytes[2] ?? 1;
  if (!isEncoding(encoding)) return fault('bad_encoding', `byte 2 must be an encoding, 1 to 4; it is ${encoding}`);
  if ((bytes[3] ?? 0) !== 0) return fault('bad_frame', 'byte 3 is reserved and must be 0');
  if (bytes.length < HEADER_BYTES)
    return fault('bad_length', `a frame must begin with a header of ${HEADER_BYTES} bytes`);
  return decodeBody(bytes, encoding, channels, earliest);
}

function decodeBody(
  bytes: Uint8Array,
  encoding: Frame['encoding'],
  channels: readonly ModalityChannel[],
  earliest: number,
): Frame | Fault {
  const header = new DataView(bytes.buffer, bytes.byteOffset, HEADER_BYTES);
  const ts = header.getFloat64(8, true);
  const payload = bytes.subarray(HEADER_BYTES);
  const channel = header.getUint8(1);
  const seq = header.getUint32(4, true);
  const bytesPerInstant = BYTES_PER_SAMPLE[encoding] * (channels[channel]?.num_channels ?? 1);
  const frame = {
    channel,
    seq,
    ts: Number.isNaN(ts) ? null : ts,
    encoding,
    instants: payload.length / bytesPerInstant,
    payload,
  };
  return checkFrame(frame, channels, earliest);
}

/**
 * The checks that binary and text frames share, in the order of the protocol's table, from `bad_length` on. For an
 * unknown channel, an instant counts as one sample.
 */
export function checkFrame(frame: Frame, channels: readonly ModalityChannel[], earliest: number): Frame | Fault {
  const { channel, seq, ts, instants } = frame;
  const at = { channel, seq };
  if (instants < 1 || !Number.isInteger(instants)) {
    return fault('bad_length', 'a frame must hold a whole number of instants, at least one', at);
  }
  if (!Number.isInteger(seq) || seq < 0 || seq + instants > MAX_NUMBER) {
    return fault('bad_value', 'seq must be an integer of 0 or more, and seq + n at most 2^32', at);
  }
  if (ts !== null && !Number.isFinite(ts)) return fault('bad_value', 'ts must be a time in ms since the epoch', at);
  if (ts !== null && ts < earliest) return fault('bad_value', BEFORE_2000, at);
  if (frame.encoding === 4 && hasInfinity(frame.payload)) {
    return fault('bad_value', 'samples must be finite; a missing value is NaN (null in text)', at);
  }
  if (!channels[channel])
    return fault('unknown_channel', `the session has ${channels.length} channels, numbered from 0`, at);
  return frame;
}

export function fault(code: FrameErrorCode, detail: string, at: { channel?: number; seq?: number } = {}): Fault {
  return { fault: code, detail, ...at };
}

function isEncoding(value: number): value is Frame['encoding'] {
  return value >= 1 && value <= 4;
}

/** Whether float32 samples contain an infinity. Reads 32-bit words, from a copy if the samples are not aligned. */
function hasInfinity(payload: Uint8Array): boolean {
  const aligned = payload.byteOffset % 4 === 0 ? payload : new Uint8Array(payload);
  const words = new Uint32Array(aligned.buffer, aligned.byteOffset, aligned.length / 4);
  for (const word of words) if ((word & 0x7fffffff) === 0x7f800000) return true;
  return false;
}

/** Turns the bits of a float32 into its value. */
const FLOAT = new DataView(new ArrayBuffer(4));

/** The sample whose first byte is at `at`, little endian; NaN where a value is missing. */
export function sampleAt(bytes: Uint8Array, encoding: Frame['encoding'], at: number): number {
  const low = byte(bytes, at) | (byte(bytes, at + 1) << 8);
  if (encoding === 1) return (low << 16) >> 16;
  if (encoding === 2) return low | ((byte(bytes, at + 2) << 24) >> 8);
  const word = low | (byte(bytes, at + 2) << 16) | (byte(bytes, at + 3) << 24);
  if (encoding === 3) return word;
  FLOAT.setInt32(0, word);
  return FLOAT.getFloat32(0);
}

function byte(bytes: Uint8Array, at: number): number {
  return bytes[at] ?? 0;
}
