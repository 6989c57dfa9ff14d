import { check } from '../options.js';
import type { Frame } from './frame.js';

/** Bytes before the samples of a binary frame. */
export const HEADER_BYTES = 16;
const VERSION = 1;

/** Encodings of samples. */
const INT16 = 1;
const INT24 = 2;
const INT32 = 3;
const FLOAT32 = 4;

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
export function encodeFrame({
  channel,
  seq,
  ts,
  samples,
}: Pick<Frame, 'channel' | 'seq' | 'ts' | 'samples'>): Uint8Array<ArrayBuffer> {
  check((channel & 255) === channel, 'channel', 'from 0 to 255', channel, RangeError);
  checkNumbers(seq, 1);
  checkValues(ts, samples);
  check(samples.length > 0, 'samples', 'at least one instant', samples, RangeError);
  const encoding = chooseEncoding(samples);
  const width = encoding === FLOAT32 ? 4 : encoding + 1;
  const bytes = new Uint8Array(HEADER_BYTES + samples.length * width);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, VERSION);
  view.setUint8(1, channel);
  view.setUint8(2, encoding);
  view.setUint32(4, seq, true);
  view.setFloat64(8, ts, true);
  let at = HEADER_BYTES;
  for (const value of samples) {
    if (encoding === INT16) view.setInt16(at, value, true);
    else if (encoding === INT24) {
      view.setUint16(at, value & 0xffff, true);
      view.setInt8(at + 2, value >> 16);
    } else if (encoding === INT32) view.setInt32(at, Math.round(value), true);
    else view.setFloat32(at, value, true);
    at += width;
  }
  return bytes;
}

/** @throws RangeError for numbers of instants that the protocol does not have */
export function checkNumbers(first: number, count: number): void {
  const isRight = Number.isInteger(first) && first >= 0 && first + count <= 2 ** 32;
  check(isRight, 'seq', 'a whole number from 0 to 2^32 - 1 (end the session before that)', first, RangeError);
}

/** @throws RangeError for values that no frame can have */
export function checkValues(ts: number, samples: Float64Array): void {
  check(Math.abs(ts) !== Infinity, 'ts', 'finite, or left out if the device has no clock', ts, RangeError);
  const wrong = samples.find((value) => Math.abs(value) > FLOAT32_MAX);
  const must = 'within float32, not infinite; null or NaN for a missing value';
  check(wrong === undefined, 'a sample', must, wrong, RangeError);
}

function chooseEncoding(samples: Float64Array): number {
  let [whole, low, high] = [true, 0, 0];
  for (const value of samples) {
    const rounded = Math.round(value);
    whole &&= rounded === value;
    low = Math.min(low, rounded); // NaN from a missing value on, which fits no integer.
    high = Math.max(high, rounded);
  }
  const fits = (bits: number) => low >= -(2 ** (bits - 1)) && high < 2 ** (bits - 1);
  if (whole && fits(16)) return INT16;
  if (whole && fits(24)) return INT24;
  return fits(32) && (whole || low < -FLOAT32_EXACT || high > FLOAT32_EXACT) ? INT32 : FLOAT32;
}
