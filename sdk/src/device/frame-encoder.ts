import type { Frame } from './frame.js';

/** Bytes before the samples of a binary frame. */
export const HEADER_BYTES = 16;
const VERSION = 1;

interface Encoding {
  readonly code: 1 | 2 | 3 | 4;
  readonly bytes: 2 | 3 | 4;
}

const INT16: Encoding = { code: 1, bytes: 2 };
const INT24: Encoding = { code: 2, bytes: 3 };
const INT32: Encoding = { code: 3, bytes: 4 };
const FLOAT32: Encoding = { code: 4, bytes: 4 };

/** Float32 represents whole numbers exactly up to here; above it, rounding to int32 is nearer to any value. */
const FLOAT32_EXACT = 2 ** 24;
/** The largest float32. */
export const FLOAT32_MAX = 3.4028234663852886e38;

/**
 * Encodes a frame in the binary form that the service reads (version 1, little endian), with the smallest encoding that
 * loses nothing: int16, int24 or int32 for whole numbers, float32 for others (relative error at most 2^-24). Exception:
 * fractional values beyond 2^24, without a missing one, are sent as rounded int32, which is then more exact.
 *
 * @throws RangeError for a sample that is infinite or too large for float32, a `seq` outside 0 to 2^32 - 1, a channel
 * outside 0 to 255, an infinite `ts` or a frame without samples.
 */
export function encodeFrame(frame: Pick<Frame, 'channel' | 'seq' | 'ts' | 'samples'>): Uint8Array<ArrayBuffer> {
  checkHeader(frame);
  const encoding = chooseEncoding(frame.samples);
  const bytes = new Uint8Array(HEADER_BYTES + frame.samples.length * encoding.bytes);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, VERSION);
  view.setUint8(1, frame.channel);
  view.setUint8(2, encoding.code);
  view.setUint32(4, frame.seq, true);
  view.setFloat64(8, frame.ts, true);
  writeSamples(view, encoding, frame.samples);
  return bytes;
}

function checkHeader({ channel, seq, ts, samples }: Pick<Frame, 'channel' | 'seq' | 'ts' | 'samples'>): void {
  if (!Number.isInteger(channel) || channel < 0 || channel > 255)
    throw new RangeError(`channel ${channel} is not an index from 0 to 255`);
  if (!Number.isInteger(seq) || seq < 0 || seq >= 2 ** 32)
    throw new RangeError(
      `seq ${seq} is not a whole number from 0 to 2^32 - 1: end the session before its numbers run out`,
    );
  if (ts === Infinity || ts === -Infinity) throw new RangeError('ts is infinite: use NaN if the device has no clock');
  if (samples.length === 0) throw new RangeError('a frame must hold at least one instant');
}

function chooseEncoding(samples: Float64Array): Encoding {
  let whole = true;
  let missing = false;
  let low = 0;
  let high = 0;
  for (const value of samples) {
    if (Number.isNaN(value)) missing = true;
    else if (!Number.isInteger(value)) whole = false;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (high > FLOAT32_MAX || low < -FLOAT32_MAX)
    throw new RangeError(`a sample is infinite or too large for float32: ${high > FLOAT32_MAX ? high : low}`);
  if (missing) return FLOAT32;
  return whole ? narrowest(low, high) : forFractions(low, high);
}

function narrowest(low: number, high: number): Encoding {
  if (low >= -(2 ** 15) && high < 2 ** 15) return INT16;
  if (low >= -(2 ** 23) && high < 2 ** 23) return INT24;
  return fitsInt32(low, high) ? INT32 : FLOAT32;
}

function forFractions(low: number, high: number): Encoding {
  const beyond = low < -FLOAT32_EXACT || high > FLOAT32_EXACT;
  return beyond && fitsInt32(Math.round(low), Math.round(high)) ? INT32 : FLOAT32;
}

function fitsInt32(low: number, high: number): boolean {
  return low >= -(2 ** 31) && high < 2 ** 31;
}

function writeSamples(view: DataView, encoding: Encoding, samples: Float64Array): void {
  let at = HEADER_BYTES;
  for (const value of samples) {
    if (encoding === INT16) view.setInt16(at, value, true);
    else if (encoding === INT24) writeInt24(view, at, value);
    else if (encoding === INT32) view.setInt32(at, Math.round(value), true);
    else view.setFloat32(at, value, true);
    at += encoding.bytes;
  }
}

function writeInt24(view: DataView, at: number, value: number): void {
  view.setUint16(at, value & 0xffff, true);
  view.setInt8(at + 2, value >> 16);
}
