import { LIMIT, usedLanes } from './grid';
import {
  CH_AREA,
  CH_CELLS,
  CH_LAST,
  CH_FALL,
  CH_OFFSET,
  CH_PAYLOAD_SUBS,
  CH_RING,
  CH_RISE,
  CH_STEP,
  CH_SUBS,
  DECODED,
  STAGING,
} from './layout';

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
  const isFloat = encoding > INT32;
  store<f32>(channel + CH_STEP, isFloat ? 0 : 1);
  if (!isFloat && subs < 4) memory.fill(DECODED, 0, <usize>count << 4);
  for (let s = 0; s < subs; s++) {
    const from = STAGING + <usize>s * bytes;
    const to = DECODED + (<usize>s << 2);
    const offset = channel + CH_OFFSET + (<usize>s << 3);
    setOffset(channel, s, firstValue(encoding, from, stride, count));
    if (isFloat) continue;
    if (encoding == INT16) decodeLane(INT16, from, stride, to, count, offset);
    else if (encoding == INT24) decodeLane(INT24, from, stride, to, count, offset);
    else decodeLane(INT32, from, stride, to, count, offset);
  }
  if (isFloat && stride == 4) decodeSingle(channel, count);
  else if (isFloat) decodeFloats(channel, subs, stride, count);
}

/** Floats of one sub-channel, four instants at a time. */
function decodeSingle(channel: usize, count: i32): void {
  const offset = v128.load64_splat(channel + CH_OFFSET);
  const none = f32x4.splat(0);
  for (let i: usize = 0; i < <usize>count << 2; i += 16) {
    const x = v128.load(i, STAGING);
    const a = f32x4.demote_f64x2_zero(f64x2.sub(f64x2.promote_low_f32x4(x), offset));
    const c = f32x4.demote_f64x2_zero(f64x2.sub(f64x2.promote_low_f32x4(v128.shuffle<f32>(x, x, 2, 3, 2, 3)), offset));
    const to = i << 2;
    v128.store(to, v128.shuffle<f32>(a, none, 0, 4, 4, 4), DECODED);
    v128.store(to, v128.shuffle<f32>(a, none, 1, 4, 4, 4), DECODED + 16);
    v128.store(to, v128.shuffle<f32>(c, none, 0, 4, 4, 4), DECODED + 32);
    v128.store(to, v128.shuffle<f32>(c, none, 1, 4, 4, 4), DECODED + 48);
  }
}

/** Floats of several sub-channels, an instant at a time. */
function decodeFloats(channel: usize, subs: i32, stride: usize, count: i32): void {
  const offsetA = v128.load(channel + CH_OFFSET);
  const offsetC = v128.load(channel + CH_OFFSET + 16);
  const used = usedLanes(subs);
  let from = STAGING;
  for (let to = DECODED; to < DECODED + (<usize>count << 4); to += 16) {
    const x = v128.load(from);
    const a = f32x4.demote_f64x2_zero(f64x2.sub(f64x2.promote_low_f32x4(x), offsetA));
    const c = f32x4.demote_f64x2_zero(f64x2.sub(f64x2.promote_low_f32x4(v128.shuffle<f32>(x, x, 2, 3, 2, 3)), offsetC));
    v128.store(to, v128.and(used, v128.shuffle<f32>(a, c, 0, 1, 4, 5)));
    from += stride;
  }
}

// @ts-ignore: decorator
@inline
function decodeLane(encoding: i32, from: usize, stride: usize, to: usize, count: i32, offsetAt: usize): void {
  const offset = load<f64>(offsetAt);
  for (let i = 0; i < count; i++) {
    store<f32>(to, <f32>(value(encoding, from) - offset));
    from += stride;
    to += 16;
  }
}

/** An offset above this is of no converter, but of one wild float. */
const WILD: f64 = 4294967296;

/** The sub-channel's offset is its first value; one so wild that f32 would lose the signal beside it is given up. */
function setOffset(channel: usize, sub: i32, first: f64): void {
  const at = channel + CH_OFFSET + (<usize>sub << 3);
  const offset = load<f64>(at);
  if (isNaN(offset)) store<f64>(at, first);
  else if (abs(offset) > WILD && abs(first) < abs(offset) * 0.001) rebase(channel, sub, first);
}

/** Takes another offset; what was stored with the old one is lost. */
function rebase(channel: usize, sub: i32, offset: f64): void {
  const lane = <usize>sub << 2;
  const ring = <usize>load<u32>(channel + CH_RING + lane);
  const cells = load<i32>(channel + CH_CELLS + lane);
  store<f64>(channel + CH_OFFSET + (<usize>sub << 3), offset);
  for (let i = 0; i < cells; i++) store<f32>(ring + (<usize>i << 2), NaN);
  store<f32>(channel + CH_LAST + lane, 0);
  store<f32>(channel + CH_AREA + lane, 0);
  store<f32>(channel + CH_FALL + lane, 0);
  store<f32>(channel + CH_RISE + lane, 0);
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
