import { Channel, KIND_ACCEL, KIND_ECG, KIND_PPG_IR, Span } from '../memory/channel';
import { DECODED, STAGING } from '../memory/map';
import { BAD_SCALE, NO_CONTACT, NO_REASON, SATURATED } from '../memory/reason';
import * as TUNING from './tuning';

/**
 * What the raw values of a channel are like, against its declared bits: a wrong width, byte order or sign shows there, and so do a
 * converter at the end of its range and a sensor that touches nothing. The readings do not depend on it, only the reason why there
 * are none. Every k-th instant is observed, with the one before it, so that the cost hardly grows with the rate.
 */

/** Size of a step where the bytes above the lowest are missing. */
const BYTE: f32 = 256;
/** The bits of a float32 from 1e-19 on, read as an integer, are at least this: 2^29. */
const FLOAT_BITS: f64 = 536870912;
/** Beyond all declared bits. */
const UNKNOWN_BITS: i32 = 64;

/** The number that made the reason which was found last. */
export namespace Seen {
  // biome-ignore lint/style/useConst: written by those who import it
  export let number: f64 = 0;
}

/** Observes `count` instants, staged and decoded but not yet resampled, `period` seconds apart. */
export function observe(channel: Channel, period: f64, count: i32): void {
  if (!count || channel.kind === KIND_ACCEL) return; // movement is judged by itself, in any unit
  const span = channel.span;
  const seconds = period > 0 ? period * <f64>count : 0;
  fade(span, <f32>Math.max(0, 1 - seconds / TUNING.SPAN_SECONDS));
  // Odd, or hum at a quarter of the rate would vanish
  const stride = <i32>Math.max(1, Math.min(<f64>count, Math.floor(1 / (TUNING.OBSERVED_HZ * period)))) | 1;
  const isFloat = channel.resolution === 0;
  const half = <f64>((<u64>1) << ((channel.bits ? channel.bits : UNKNOWN_BITS) - 1));
  // Of a single sub-channel, four instants are observed at a time; not of few, or loads would reach far past the last
  const single = channel.subs === 1 && 4 * stride <= count;
  const offset = toLanes(above(channel, 0, -1), single);
  const zero = toLanes(above(channel, 0, 1), single);
  const top = toLanes(above(channel, 2 * half - 1, 1), single);
  const middle = toLanes(above(channel, half - 1, 1), single);
  const bottom = toLanes(above(channel, -half, 1), single);
  const most = f32x4.splat(<f32>(4 * half));
  extend(span, count);
  const high = toLanes(span.high, single);
  const low = toLanes(span.low, single);
  const range = f32x4.sub(high, low);
  // A pacemaker's spikes are as long in part of the declared range
  const filled = channel.kind === KIND_ECG ? TUNING.FILLED * <f32>(2 * half) : 0;
  const breaks = f32x4.ge(range, f32x4.splat(filled));
  const long = f32x4.pmax(f32x4.splat(<f32>half), f32x4.mul(range, f32x4.splat(0.5)));
  const isUnsigned = f32x4.ge(low, zero);
  const isSigned = f32x4.le(high, middle);
  const isKnown = f32x4.ge(span.count, f32x4.splat(TUNING.LEAST_OBSERVED));
  const isWholeOffset = f32x4.eq(f32x4.nearest(offset), offset);
  const least = f32x4.splat(TUNING.SMALLEST);
  const greatest = f32x4.splat(TUNING.GREATEST);
  // Counts, as sums of masks: -1 where it is so
  let counts = i32x4.splat(0);
  let ends = counts;
  let rests = counts;
  let outside = counts;
  let broken = counts;
  let tinies = counts;
  let wholes = counts;
  const bytes = (<usize>channel.payloadSubs) << 2;
  const apart = single ? <usize>stride : 0;
  const places = i32x4.mul(i32x4(0, 1, 2, 3), i32x4.splat(single ? stride : 0));
  for (let i = 0; i < count; i += single ? 4 * stride : stride) {
    const at = DECODED + ((<usize>i) << 4);
    // NaN past the last instant
    const past = i32x4.ge_s(i32x4.add(i32x4.splat(i), places), i32x4.splat(count));
    const x = v128.or(loadLanes(at, apart << 4), past);
    let before = loadLanes(at - 16, apart << 4);
    if (!i) before = startLanes(before, channel, single);
    // Beside an offset, the tiny floats of a wrong byte order would be zero
    const raw = isFloat ? v128.or(loadLanes(STAGING + <usize>i * bytes, apart * bytes), past) : f32x4.add(x, offset);
    const size = f32x4.abs(raw);
    const step = f32x4.abs(f32x4.sub(x, before));
    const whole = v128.and(isWholeOffset, f32x4.eq(f32x4.nearest(x), x));
    const atZero = v128.and(f32x4.eq(x, zero), isUnsigned);
    const atMiddle = v128.and(f32x4.eq(x, middle), isSigned);
    const atEnd = v128.or(v128.or(f32x4.eq(x, top), atMiddle), v128.or(f32x4.eq(x, bottom), atZero));
    const extreme = v128.or(f32x4.ge(x, high), f32x4.le(x, low));
    counts = i32x4.add(counts, f32x4.eq(x, x));
    ends = i32x4.add(ends, atEnd);
    rests = i32x4.add(rests, v128.and(extreme, f32x4.eq(x, before)));
    outside = i32x4.add(outside, v128.and(whole, f32x4.ge(size, most)));
    broken = i32x4.add(
      broken,
      v128.or(f32x4.gt(size, greatest), v128.and(v128.and(whole, breaks), f32x4.gt(step, long))),
    );
    tinies = i32x4.add(tinies, v128.and(f32x4.lt(size, least), f32x4.gt(size, f32x4.splat(0))));
    wholes = i32x4.add(wholes, whole);
  }
  if (single) {
    counts = addLanes(counts);
    ends = addLanes(ends);
    rests = addLanes(rests);
    outside = addLanes(outside);
    broken = addLanes(broken);
    tinies = addLanes(tinies);
    wholes = addLanes(wholes);
  }
  span.count = less(span.count, counts, 1);
  span.ends = less(span.ends, ends, 1);
  span.rests = less(span.rests, rests, 1);
  span.outside = less(span.outside, outside, 1);
  span.broken = less(less(span.broken, broken, 1), tinies, <f32>(TUNING.WRAPPED / TUNING.TINY));
  const mayWrap = v128.and(isKnown, fillsWord(f32x4.add(low, offset), range));
  if (v128.any_true(mayWrap)) span.wraps = f32x4.add(span.wraps, v128.and(wrapsOf(channel, count, range), mayWrap));
  span.fractions = less(span.fractions, i32x4.sub(counts, wholes), 1);
}

/** The first lane in all, if `single`. */
function toLanes(v: v128, single: bool): v128 {
  return single ? v128.shuffle<f32>(v, v, 0, 0, 0, 0) : v;
}

/** The vector at an address; or with `apart`, four values that many bytes apart. */
function loadLanes(at: usize, apart: usize): v128 {
  if (!apart) return v128.load(at);
  const a = v128.load32_zero(at);
  const ab = v128.load32_lane(at + apart, a, 1);
  const abc = v128.load32_lane(at + 2 * apart, ab, 2);
  return v128.load32_lane(at + 3 * apart, abc, 3);
}

/** With the instant before the first one. */
function startLanes(before: v128, channel: Channel, single: bool): v128 {
  const last = channel.started ? channel.last : f32x4.splat(NaN);
  return single ? f32x4.replace_lane(before, 0, f32x4.extract_lane(last, 0)) : last;
}

/** The sum of the lanes in all. */
function addLanes(v: v128): v128 {
  const pairs = i32x4.add(v, v128.shuffle<i32>(v, v, 2, 3, 0, 1));
  return i32x4.add(pairs, v128.shuffle<i32>(pairs, pairs, 1, 0, 3, 2));
}

/** Extends the extremes to those of the staged instants. */
function extend(span: Span, count: i32): void {
  let high = span.high;
  let low = span.low;
  for (let at = DECODED; at < DECODED + ((<usize>count) << 4); at += 16) {
    const x = v128.load(at);
    high = f32x4.pmax(high, x);
    low = f32x4.pmin(low, x);
  }
  span.high = high;
  span.low = low;
}

/** Whether values from `low` on fill a signed or unsigned word, as those do that wrap: a pacemaker's spikes step as far, but anywhere. */
function fillsWord(low: v128, range: v128): v128 {
  const word = wordOf(range);
  const half = f32x4.mul(word, f32x4.splat(0.5));
  const high = f32x4.add(low, range);
  const isUnsigned = v128.and(f32x4.ge(low, f32x4.splat(0)), f32x4.le(high, word));
  const isSigned = v128.and(f32x4.ge(low, f32x4.neg(half)), f32x4.le(high, half));
  return v128.and(f32x4.ge(range, f32x4.mul(word, f32x4.splat(TUNING.FILLED))), v128.or(isUnsigned, isSigned));
}

/**
 * Number of steps of about the power of two that holds all values, less some of those of other great sizes: where bits are missing, or the sign,
 * values wrap, and step by it less what the signal itself steps; noise and motion step by any size.
 */
function wrapsOf(channel: Channel, count: i32, range: v128): v128 {
  const wrap = wordOf(range);
  const great = f32x4.mul(wrap, f32x4.splat(1 - TUNING.WRAP_SHARE));
  const most = f32x4.mul(wrap, f32x4.splat(TUNING.WRAP_SHARE));
  let wraps = i32x4.splat(0);
  let greats = wraps;
  let before = channel.started ? channel.last : f32x4.splat(NaN);
  for (let at = DECODED; at < DECODED + ((<usize>count) << 4); at += 16) {
    const x = v128.load(at);
    const step = f32x4.abs(f32x4.sub(x, before));
    wraps = i32x4.add(wraps, f32x4.ge(step, most));
    greats = i32x4.add(greats, f32x4.ge(step, great));
    before = x;
  }
  return less(less(f32x4.splat(0), wraps, 1 + TUNING.OF_GREATS), greats, -TUNING.OF_GREATS);
}

/** The smallest power of two, of at least a byte, that is not below a range, by lane. */
function wordOf(range: v128): v128 {
  const positive = v128.and(range, f32x4.gt(range, f32x4.splat(0)));
  const power = v128.and(i32x4.add(positive, i32x4.splat(0x7fffff)), i32x4.splat(0x7f800000));
  return f32x4.pmax(power, f32x4.splat(BYTE));
}

/** The sum less so many times a count. */
function less(sum: v128, count: v128, weight: f32): v128 {
  return f32x4.sub(sum, f32x4.mul(f32x4.convert_i32x4_s(count), f32x4.splat(weight)));
}

/** `sign` times what each lane's offset leaves of a value; with 0 and -1, the offsets. */
function above(channel: Channel, value: f64, sign: f64): v128 {
  const from = f64x2.splat(value);
  const factor = f64x2.splat(sign);
  const a = f64x2.mul(factor, f64x2.sub(from, v128.load(channel.offsets.at(0))));
  const c = f64x2.mul(factor, f64x2.sub(from, v128.load(channel.offsets.at(2))));
  return v128.shuffle<f32>(f32x4.demote_f64x2_zero(a), f32x4.demote_f64x2_zero(c), 0, 1, 4, 5);
}

/** Lets what was seen fade by a factor: the counts to nothing, the extremes to their middle. */
function fade(span: Span, factor: f32): void {
  const by = f32x4.splat(factor);
  const none = f32x4.eq(span.count, f32x4.splat(0));
  const middle = f32x4.mul(f32x4.add(span.high, span.low), f32x4.splat(0.5));
  const reach = f32x4.mul(f32x4.sub(span.high, middle), f32x4.mul(by, by)); // twice as fast, or a lost contact shows late
  span.high = v128.bitselect(f32x4.splat(-Infinity), f32x4.add(middle, reach), none);
  span.low = v128.bitselect(f32x4.splat(Infinity), f32x4.sub(middle, reach), none);
  for (let field: usize = 0; field < offsetof<Span>('high'); field += 16) {
    const at = changetype<usize>(span) + field;
    v128.store(at, f32x4.mul(v128.load(at), by));
  }
}

/** Middle of a sub-channel's newest values; NaN before there are any. */
export function levelOf(channel: Channel, sub: i32): f64 {
  return lowestOf(channel, sub) + 0.5 * rangeOf(channel, sub);
}

/** Difference of a sub-channel's highest and lowest values. */
export function rangeOf(channel: Channel, sub: i32): f64 {
  return <f64>lane(channel, offsetof<Span>('high'), sub) - <f64>lane(channel, offsetof<Span>('low'), sub);
}

/** Lowest of a sub-channel's values. */
export function lowestOf(channel: Channel, sub: i32): f64 {
  return channel.offsets[sub] + <f64>lane(channel, offsetof<Span>('low'), sub);
}

/** Whether a sub-channel's values are whole numbers: counts of a converter, not values in a unit. */
export function isWhole(channel: Channel, sub: i32): bool {
  return lane(channel, offsetof<Span>('fractions'), sub) === 0;
}

/**
 * Why a sub-channel's values can hold no signal: NO_CONTACT, SATURATED or BAD_SCALE; NO_REASON if they can, or too few are known.
 * @param contact level of the light, or range of the ECG, of a trusted reading; 0 if there was none
 * @param alive whether a pulse is seen, so that there is contact
 */
export function faultOf(channel: Channel, sub: i32, contact: f64, alive: bool): i32 {
  if (lane(channel, offsetof<Span>('count'), sub) < TUNING.LEAST_OBSERVED) return NO_REASON;
  const ends = channel.bits ? share(channel, offsetof<Span>('ends'), sub) : 0;
  Seen.number = levelOf(channel, sub);
  const flat = isFlat(channel, sub);
  const isFull = isLight(channel) && ends > TUNING.AT_ENDS && lowestOf(channel, sub) > 0 && flat;
  if (!isFull && (flat || (!alive && isApart(channel, sub, contact)))) return NO_CONTACT;
  const scrambled = isScrambled(channel, sub) || isWrapped(channel, sub);
  const outside = channel.bits > 0 && share(channel, offsetof<Span>('outside'), sub) > TUNING.OUTSIDE;
  if (!scrambled || !outside) {
    Seen.number = ends;
    if (ends > TUNING.AT_ENDS) return SATURATED;
    Seen.number = share(channel, offsetof<Span>('rests'), sub);
    // A signal of few levels rests at the highest and the lowest one without a limit
    const isCoarse = isWhole(channel, sub) && rangeOf(channel, sub) < TUNING.COARSE_COUNTS;
    if (Seen.number > TUNING.AT_REST && !isCoarse) return SATURATED;
  }
  const high = lowestOf(channel, sub) + rangeOf(channel, sub);
  Seen.number = Math.abs(lowestOf(channel, sub)) > Math.abs(high) ? lowestOf(channel, sub) : high;
  return scrambled || outside ? BAD_SCALE : NO_REASON;
}

export function isLight(channel: Channel): bool {
  return channel.kind <= KIND_PPG_IR;
}

/** Whether a sensor touches nothing: it changes as little as an electrode in air, or its light is that of free air. */
function isApart(channel: Channel, sub: i32, contact: f64): bool {
  if (channel.kind === KIND_ECG) return rangeOf(channel, sub) < 0.5 * contact * TUNING.CONTACT_FALL;
  if (!isLight(channel) || lowestOf(channel, sub) < 0) return false;
  return (
    levelOf(channel, sub) <
    (contact > 0 ? contact * TUNING.CONTACT_FALL : isWhole(channel, sub) ? freeAir(channel.bits) : 0)
  );
}

/** Level of free air, as far as the declared bits tell. */
function freeAir(bits: i32): f64 {
  if (bits <= 0 || bits > 24) return 0;
  return TUNING.FREE_AIR * 2 ** <f64>(bits > TUNING.CONVERTER_BITS ? TUNING.LEAST_BITS : bits);
}

/** Whether a sub-channel's values do not change, or have not changed for long. */
function isFlat(channel: Channel, sub: i32): bool {
  const still = channel.kind === KIND_ECG && isWhole(channel, sub) ? TUNING.FLAT_COUNTS : 0;
  return rangeOf(channel, sub) <= still || share(channel, offsetof<Span>('rests'), sub) > 1 - TUNING.AT_ENDS;
}

/** Whether they are so wrong that the signal is lost: not only larger by a factor, or shifted. */
export function isScrambled(channel: Channel, sub: i32): bool {
  if (share(channel, offsetof<Span>('broken'), sub) > TUNING.WRAPPED) return true;
  if (!isWhole(channel, sub)) return false;
  // Whole bytes are missing, or the declared bits hold all. A QRS complex of one or two samples may be as large as any other power of two
  const range = rangeOf(channel, sub);
  const ofBytes = holds(BYTE, range) || holds(65536, range) || holds(16777216, range);
  if (isWrapped(channel, sub) && (ofBytes || holds(2 ** <f64>channel.bits, range))) return true;
  const lowest = lowestOf(channel, sub);
  if (lowest < FLOAT_BITS) return false;
  return (channel.bits > 0 && channel.bits <= 24) || range < TUNING.FLOAT_RANGE * lowest;
}

/** Whether values step again and again by the power of two that holds them all. */
function isWrapped(channel: Channel, sub: i32): bool {
  return isWhole(channel, sub) && share(channel, offsetof<Span>('wraps'), sub) > TUNING.WRAPPED;
}

/** Whether a power of two is the smallest one that holds a range. */
function holds(power: f64, range: f64): bool {
  return range > 0.5 * power && range <= power;
}

function share(channel: Channel, field: usize, sub: i32): f64 {
  return <f64>lane(channel, field, sub) / <f64>lane(channel, offsetof<Span>('count'), sub);
}

function lane(channel: Channel, field: usize, sub: i32): f32 {
  return load<f32>(changetype<usize>(channel.span) + field + ((<usize>sub) << 2));
}
