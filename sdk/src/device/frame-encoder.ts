import { FLOAT32, FLOAT32_EXACT, HEADER_BYTES, INT32, VERSION } from '../limits.js';
import { check, isCount } from '../options.js';
import type { Frame } from './frame.js';

/** What a sample must be, in words. */
export const SAMPLE = 'a number within float32, or null if it is missing';

/**
 * Encodes a frame in the binary form that the service reads (version 1, little endian), with the smallest encoding that
 * loses nothing: int16, int24 or int32 for whole numbers, float32 for others (relative error at most 2^-24). Exception:
 * fractional values beyond 2^24, without a missing one, are sent as rounded int32, which is then more exact.
 *
 * @throws RangeError for a sample that is infinite or too large for float32, a `seq` outside 0 to 2^32 - 1, or an
 * infinite `ts`
 */
export function encodeFrame({
  channel,
  seq,
  ts,
  samples,
}: Pick<Frame, 'channel' | 'seq' | 'ts' | 'samples'>): Uint8Array<ArrayBuffer> {
  checkNumbers(seq, 1);
  checkValues(ts, samples);
  const encoding = chooseEncoding(samples);
  const width = Math.min(encoding + 1, 4);
  const bytes = new Uint8Array(HEADER_BYTES + samples.length * width);
  const view = new DataView(bytes.buffer);
  bytes.set([VERSION, channel, encoding]);
  view.setUint32(4, seq, true);
  view.setFloat64(8, ts, true);
  let at = HEADER_BYTES;
  for (const value of samples) {
    if (encoding === FLOAT32) view.setFloat32(at, value, true);
    else for (let n = 0, whole = Math.round(value); n < width; n++, whole >>= 8) bytes[at + n] = whole;
    at += width;
  }
  return bytes;
}

/** @throws RangeError for numbers of instants that the protocol does not have */
export function checkNumbers(first: number, count: number): void {
  const isRight = isCount(first) && first + count <= 2 ** 32;
  check(isRight, 'seq', 'a whole number below 2^32: end the session before', first, RangeError);
}

/** @throws RangeError for values that no frame can have */
export function checkValues(ts: number, samples: Float64Array): void {
  check(Math.abs(ts) !== Infinity, 'ts', 'finite', ts, RangeError);
  const wrong = samples.find(isTooLarge);
  check(wrong === undefined, 'a sample', SAMPLE, wrong, RangeError);
}

/** Whether a number is infinite, or would be as a float32. */
export function isTooLarge(value: number): boolean {
  return Math.abs(Math.fround(value)) === Infinity;
}

function chooseEncoding(samples: Float64Array): number {
  let [whole, most] = [true, 0];
  for (const value of samples) {
    const rounded = Math.round(value);
    whole &&= rounded === value;
    most = Math.max(most, rounded, -1 - rounded); // NaN from a missing value on, which fits no integer.
  }
  const width = [2, 3, 4].find((bytes) => most < 2 ** (8 * bytes - 1));
  if (whole && width) return width - 1;
  return width && most > FLOAT32_EXACT ? INT32 : FLOAT32;
}
