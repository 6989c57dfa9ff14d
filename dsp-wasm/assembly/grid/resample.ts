import { usedLanes } from '../math/vector';
import { Channel, KIND_ECG, LONG_RING, SECONDS } from '../memory/channel';
import { DECODED, RESAMPLED, STAGING_BYTES } from '../memory/map';
import { BRIDGE_SECONDS, ECG_BRIDGE_SECONDS, FAR, LIMIT, TICKS } from './tuning';

/**
 * Resampling onto the grid. The samples are joined by straight lines. Grid sample k is the average of this line with a
 * triangular weight from k - 1 to k + 1. This is a low-pass of linear phase, sinc^2(f / grid rate). It leaves a straight line
 * unchanged, needs no uniform stamps, and aliases less than 0.5 % of mains hum into the pulse band. The triangle consists of
 * the intervals [k - 1, k] and [k, k + 1]. For each interval the state has its integral (`area`) and the integral of that
 * integral (`fall`; a cascaded integrator, Hogenauer 1981). `fall` weighs the interval from 1 down to 0, and `area - fall`
 * from 0 up to 1. Both are stored times six, which saves multiplications.
 *
 * A grid sample that is not completely covered by data or by a bridged gap is NaN.
 */

/** Times of the accepted instants, in grid samples (f64), and one that ends the last run. */
const TIMES: usize = memory.data((STAGING_BYTES / 2 + 2) * 8, 16);

/**
 * Takes `count` decoded instants, `t` and `period` in seconds.
 * @returns the number of missing instants
 */
export function pushInstants(channel: Channel, t: f64, period: f64, count: i32): i32 {
  if (!areAllGood(channel, t, period, count)) return takeSome(channel, t, period, count);
  integrate(channel, count);
  return 0;
}

/** Whether all instants are complete, within LIMIT and in order, which is the usual case; then their times are in TIMES. */
function areAllGood(channel: Channel, t: f64, period: f64, count: i32): bool {
  const scale = <f64>channel.rate / TICKS;
  const start = t * TICKS + 0.5;
  const step = period * TICKS;
  const last = channel.started ? channel.lastTime : 0;
  const end = Math.floor(start + step * <f64>(count - 1)) * scale;
  if (!(step >= 0 && Math.floor(start) * scale >= last && end < FAR)) return false;
  if (count & 1) v128.store(DECODED + ((<usize>count) << 4), f32x4.splat(0)); // two at a time
  // Without their signs, which the shift drops, floats are in the order of their bits; a NaN is the greatest
  let most = i32x4.splat(0);
  let number = f64x2(0, 1);
  for (let i: usize = 0; i < <usize>count; i += 2) {
    most = i32x4.max_u(most, i32x4.shl(v128.load(i << 4, DECODED), 1));
    most = i32x4.max_u(most, i32x4.shl(v128.load(i << 4, DECODED + 16), 1));
    const ticks = f64x2.add(f64x2.splat(start), f64x2.mul(f64x2.splat(step), number));
    v128.store(i << 3, f64x2.mul(f64x2.floor(ticks), f64x2.splat(scale)), TIMES);
    number = f64x2.add(number, f64x2.splat(2));
  }
  return i32x4.all_true(i32x4.le_u(most, i32x4.shl(f32x4.splat(LIMIT), 1)));
}

/**
 * Accepts the decoded instants, except those without any value and those out of order. A lane without a value keeps its
 * newest one.
 * @returns the number of missing instants
 */
function takeSome(channel: Channel, t: f64, period: f64, count: i32): i32 {
  const scale = <f64>channel.rate / TICKS;
  const used = i8x16.bitmask(usedLanes(channel.subs));
  const start = t * TICKS + 0.5;
  const step = period * TICKS;
  const high = f32x4.splat(LIMIT);
  const low = f32x4.neg(high);
  let last = channel.started ? channel.lastTime : 0;
  let before = channel.last;
  let missing = 0;
  let kept: usize = 0;
  for (let i = 0; i < count; i++) {
    let x = v128.load(DECODED + ((<usize>i) << 4));
    const absent = i8x16.bitmask(f32x4.ne(x, x)); // unused lanes are 0
    if (absent) {
      if (absent === used) {
        missing++;
        continue;
      }
      x = v128.bitselect(before, x, f32x4.ne(x, x));
    }
    const now = Math.floor(start + step * <f64>i) * scale;
    if (!(now >= last && now < FAR)) continue;
    x = f32x4.pmax(f32x4.pmin(x, high), low);
    v128.store(DECODED + (kept << 4), x);
    store<f64>(TIMES + (kept << 3), now);
    kept++;
    last = now;
    before = x;
  }
  integrate(channel, <i32>kept);
  return missing;
}

/** Integrates the instants into grid samples, in runs without a gap or the start of a second. */
function integrate(channel: Channel, count: i32): void {
  const rate = <f64>channel.rate;
  store<f64>((<usize>count) << 3, Infinity, TIMES); // ends the last run
  let i = 0;
  while (i < count) {
    const now = load<f64>((<usize>i) << 3, TIMES);
    if (now >= <f64>channel.nextSecond * rate) passSeconds(channel, now, rate);
    const goesOn = channel.started && now - channel.lastTime <= longestBridge(channel);
    if (goesOn) {
      i = integrateRun(channel, i);
    } else {
      begin(channel, now, v128.load((<usize>i) << 4, DECODED));
      i++;
    }
  }
}

/**
 * Longest gap that is bridged, in grid samples. A bridge of an ECG must not hide a QRS complex: the two intervals beside it would be read
 * as one.
 */
function longestBridge(channel: Channel): f64 {
  return (channel.kind === KIND_ECG ? ECG_BRIDGE_SECONDS : BRIDGE_SECONDS) * <f64>channel.rate;
}

/** Starts with the first sample, or with the first one after a gap. */
function begin(channel: Channel, now: f64, x: v128): void {
  const to = skipTo(channel, channel.complete, now);
  channel.area = f32x4.splat(0);
  channel.fall = f32x4.splat(0);
  channel.gap = -1;
  channel.nextGap = <f64>to === now ? 0 : -1;
  channel.complete = to;
  channel.started = true;
  channel.lastTime = now;
  channel.last = x;
}

/**
 * Integrates from instant `i`, which follows without a gap, to the next gap or second. The function is long because it keeps
 * the current interval in registers: through memory, each instant would wait for the previous one.
 * @returns the instant after the run
 */
function integrateRun(channel: Channel, i: i32): i32 {
  const rate = <f64>channel.rate;
  const second = <f64>channel.nextSecond * rate;
  const bridge = longestBridge(channel);
  const sixth = f32x4.splat(<f32>(1.0 / 6.0));
  let last = channel.lastTime;
  // End of the current interval; a second begins with an interval, and a gap ends in another one
  let next = <f64>channel.complete + 1;
  let before = channel.last;
  let area = channel.area;
  let fall = channel.fall;
  let rise = channel.rise;
  // All bits are set if this grid sample, or the next one, is not completely covered: this makes it a NaN
  let gap = i32x4.splat(channel.gap);
  let nextGap = i32x4.splat(channel.nextGap);
  let to: usize = RESAMPLED;
  let time: usize = TIMES + ((<usize>i) << 3);
  let instant: usize = DECODED + ((<usize>i) << 4);
  let now = load<f64>(time);
  while (true) {
    while (now < next) {
      const x = v128.load(instant);
      const width = f32x4.splat(<f32>(now - last));
      fall = f32x4.add(fall, fallOf(width, area, before, x));
      area = f32x4.add(area, areaOf(width, before, x));
      last = now;
      before = x;
      instant += 16;
      time += 8;
      now = load<f64>(time);
    }
    if (now >= second || now - last > bridge) break;
    const slope = f32x4.div(f32x4.sub(v128.load(instant), before), f32x4.splat(<f32>(now - last)));
    while (now >= next) {
      const width = f32x4.splat(<f32>(next - last));
      const edge = f32x4.add(before, f32x4.mul(slope, width));
      fall = f32x4.add(fall, fallOf(width, area, before, edge));
      area = f32x4.add(area, areaOf(width, before, edge));
      // End of the interval: its grid sample is the rising half of the previous interval and the falling half of this one
      v128.store(to, v128.or(f32x4.mul(f32x4.add(rise, fall), sixth), gap));
      gap = nextGap;
      nextGap = i32x4.splat(0);
      rise = f32x4.sub(area, fall);
      area = f32x4.splat(0);
      fall = area;
      before = edge;
      last = next;
      next += 1;
      to += 16;
    }
  }
  channel.lastTime = last;
  channel.complete = <i32>(next - 1);
  channel.last = before;
  channel.area = area;
  channel.fall = fall;
  channel.rise = rise;
  channel.gap = i32x4.extract_lane(gap, 0);
  channel.nextGap = i32x4.extract_lane(nextGap, 0);
  flush(channel, <i32>((to - RESAMPLED) >> 4));
  return <i32>((time - TIMES) >> 3);
}

/** Records, for each second that `t` (in grid samples) is the first to reach, the number of grid samples complete before it. */
function passSeconds(channel: Channel, t: f64, rate: f64): void {
  const next = <i32>(t / rate) + 1;
  for (let s = max(channel.nextSecond, next - SECONDS); s < next; s++) {
    channel.completeAt[s & (SECONDS - 1)] = channel.complete;
  }
  channel.nextSecond = next;
}

/** Leaves the grid samples before the one of `t` empty; returns its index. */
function skipTo(channel: Channel, complete: i32, t: f64): i32 {
  const target = <i32>t;
  const from = max(complete, target - LONG_RING);
  for (let sub = 0; sub < channel.subs; sub++) {
    const ring = channel.rings[sub];
    ring.next = from % ring.length;
  }
  for (let i = 0; i < target - from; i++) v128.store(RESAMPLED + ((<usize>i) << 4), i32x4.splat(-1));
  flush(channel, target - from);
  return target;
}

/** Moves `count` grid samples into the rings. */
function flush(channel: Channel, count: i32): void {
  for (let sub = 0; sub < channel.subs; sub++) {
    const ring = channel.rings[sub];
    const end = RESAMPLED + ((<usize>count) << 4);
    for (let from: usize = RESAMPLED + ((<usize>sub) << 2); from < end; ) {
      const to = ring.samples.at(ring.next);
      const past = min(ring.samples.at(ring.length), to + (((end - from + 12) >> 4) << 2));
      ring.next = past === ring.samples.at(ring.length) ? 0 : ring.next + <i32>((past - to) >> 2);
      for (let at = to; at < past; at += 4) {
        store<f32>(at, load<f32>(from));
        from += 16;
      }
    }
  }
}

/** Six times the integral of the line from a to b over the width. */
function areaOf(width: v128, a: v128, b: v128): v128 {
  return f32x4.mul(f32x4.add(a, b), f32x4.mul(width, f32x4.splat(3)));
}

/** Six times the integral over the width of the area so far (`area`, six times it) and the line's. */
function fallOf(width: v128, area: v128, a: v128, b: v128): v128 {
  return f32x4.mul(width, f32x4.add(area, f32x4.mul(width, f32x4.add(f32x4.add(a, b), a))));
}
