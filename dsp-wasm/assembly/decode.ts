import { LIMIT } from './grid';
import { CH_OFFSET, CH_PAYLOAD_SUBS, CH_SUBS, DECODED, STAGING } from './layout';

const INT16: i32 = 1;
const INT24: i32 = 2;
const INT32: i32 = 3;

/** Bytes of one value in that encoding. */
export function valueBytes(encoding: i32): i32 {
  return encoding == INT16 ? 2 : encoding == INT24 ? 3 : 4;
}

/**
 * Decodes `count` staged instants into four f32 lanes each, sub-channel by lane, without the sub-channel's offset (its
 * first value). f32 on the counts themselves would lose the pulse: 0.1 % of 2^18 counts, under filters of gain 1000.
 */
export function decode(channel: usize, encoding: i32, count: i32): void {
  const subs = load<i32>(channel + CH_SUBS);
  const bytes = <usize>valueBytes(encoding);
  const stride = bytes * <usize>load<i32>(channel + CH_PAYLOAD_SUBS);
  if (subs < 4) memory.fill(DECODED, 0, <usize>count << 4);
  for (let s = 0; s < subs; s++) {
    const from = STAGING + <usize>s * bytes;
    const to = DECODED + (<usize>s << 2);
    const offset = channel + CH_OFFSET + (<usize>s << 3);
    if (encoding == INT16) decodeLane(INT16, from, stride, to, count, offset);
    else if (encoding == INT24) decodeLane(INT24, from, stride, to, count, offset);
    else if (encoding == INT32) decodeLane(INT32, from, stride, to, count, offset);
    else decodeLane(4, from, stride, to, count, offset);
  }
}

// @ts-ignore: decorator
@inline
function decodeLane(encoding: i32, from: usize, stride: usize, to: usize, count: i32, offsetAt: usize): void {
  if (isNaN(load<f64>(offsetAt))) store<f64>(offsetAt, firstValue(encoding, from, stride, count));
  const offset = load<f64>(offsetAt);
  for (let i = 0; i < count; i++) {
    store<f32>(to, <f32>(value(encoding, from) - offset));
    from += stride;
    to += 16;
  }
}

/** First value that is not missing, NaN where all are. */
function firstValue(encoding: i32, from: usize, stride: usize, count: i32): f64 {
  for (let i = 0; i < count; i++) {
    const x = value(encoding, from + <usize>i * stride);
    if (!isNaN(x)) return min(<f64>LIMIT, max(<f64>-LIMIT, x));
  }
  return NaN;
}

// @ts-ignore: decorator
@inline
function value(encoding: i32, p: usize): f64 {
  if (encoding == INT16) return <f64>load<i16>(p);
  if (encoding == INT24) return <f64>((<i32>load<u8>(p)) | (<i32>load<i16>(p, 1) << 8));
  if (encoding == INT32) return <f64>load<i32>(p);
  return <f64>load<f32>(p);
}
