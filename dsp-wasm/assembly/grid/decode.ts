import { usedLanes } from '../math/vector';
import { Channel } from '../memory/channel';
import { DECODED, STAGING } from '../memory/map';
import { LIMIT, WILD } from './tuning';

// Encodings, with the numbers of the ingest protocol.
const INT16: i32 = 1;
const INT24: i32 = 2;
const INT32: i32 = 3;

/**
 * Decodes `count` staged instants into four f32 lanes each, sub-channel by lane, without the sub-channel's offset (its
 * first value). Counts in f32 would lose the pulse: 0.1 % of 2^18 counts, with filters of gain 1000.
 */
export function decode(channel: Channel, encoding: i32, count: i32): void {
  const subs = channel.subs;
  const bytes = encoding === INT16 ? 2 : encoding === INT24 ? 3 : 4;
  const stride = <usize>(bytes * channel.payloadSubs);
  const isFloat = encoding > INT32;
  channel.resolution = isFloat ? 0 : 1;
  if (!count) return;
  if (!isFloat && subs < 4) memory.fill(DECODED, 0, (<usize>count) << 4);
  for (let s = 0; s < subs; s++) {
    const from = STAGING + <usize>(s * bytes);
    setOffset(channel, s, isFloat ? firstFloat(from, stride, count) : <f64>integer(from, 4 - bytes));
    if (!isFloat) decodeLane(from, stride, 4 - bytes, count, DECODED + ((<usize>s) << 2), channel.offsets[s]);
  }
  if (isFloat && stride === 4) decodeSingle(channel, count);
  else if (isFloat) decodeFloats(channel, subs, stride, count);
}

/** Floats of one sub-channel, four instants at a time. */
function decodeSingle(channel: Channel, count: i32): void {
  const offset = v128.load64_splat(channel.offsets.at(0));
  const none = f32x4.splat(0);
  for (let i: usize = 0; i < (<usize>count) << 2; i += 16) {
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
function decodeFloats(channel: Channel, subs: i32, stride: usize, count: i32): void {
  const offsetA = v128.load(channel.offsets.at(0));
  const offsetC = v128.load(channel.offsets.at(2));
  const used = usedLanes(subs);
  let from = STAGING;
  for (let to = DECODED; to < DECODED + ((<usize>count) << 4); to += 16) {
    const x = v128.load(from);
    const a = f32x4.demote_f64x2_zero(f64x2.sub(f64x2.promote_low_f32x4(x), offsetA));
    const c = f32x4.demote_f64x2_zero(f64x2.sub(f64x2.promote_low_f32x4(v128.shuffle<f32>(x, x, 2, 3, 2, 3)), offsetC));
    v128.store(to, v128.and(used, v128.shuffle<f32>(a, c, 0, 1, 4, 5)));
    from += stride;
  }
}

function decodeLane(from: usize, stride: usize, spare: i32, count: i32, to: usize, offset: f64): void {
  for (let i = 0; i < count; i++) {
    store<f32>(to, <f32>(<f64>integer(from, spare) - offset));
    from += stride;
    to += 16;
  }
}

/** The integer of 4 - `spare` bytes at `from`: the bytes before it are loaded with it and shifted out. */
function integer(from: usize, spare: i32): i32 {
  return load<i32>(from - <usize>spare) >> (spare << 3);
}

/** Sets the sub-channel's offset to its first value; replaces an offset so large that f32 would lose the signal. */
function setOffset(channel: Channel, sub: i32, first: f64): void {
  const offset = channel.offsets[sub];
  if (isNaN(offset)) channel.offsets[sub] = first;
  else if (abs(offset) > WILD && abs(first) <= WILD) rebase(channel, sub, first);
}

/** Sets another offset; the values stored with the old one are lost. */
function rebase(channel: Channel, sub: i32, offset: f64): void {
  const ring = channel.rings[sub];
  const lane = i32x4.eq(i32x4(0, 1, 2, 3), i32x4.splat(sub));
  channel.offsets[sub] = offset;
  for (let i = 0; i < ring.length; i++) ring.samples[i] = NaN;
  channel.last = v128.andnot(channel.last, lane);
  channel.area = v128.andnot(channel.area, lane);
  channel.fall = v128.andnot(channel.fall, lane);
  channel.rise = v128.andnot(channel.rise, lane);
}

/** First value that is not missing; NaN if all are. */
function firstFloat(from: usize, stride: usize, count: i32): f64 {
  for (let i = 0; i < count; i++) {
    const x = <f64>load<f32>(from + <usize>i * stride);
    if (!isNaN(x)) return min(<f64>LIMIT, max(<f64>-LIMIT, x));
  }
  return NaN;
}
