import {
  BRIDGE_SECONDS,
  CH_AREA,
  CH_AT,
  CH_BEGUN,
  CH_CELLS,
  CH_DONE,
  CH_FALL,
  CH_HOLE,
  CH_LAST,
  CH_LAST_T,
  CH_NEXT_SECOND,
  CH_RATE,
  CH_RING,
  CH_RISE,
  CH_SECONDS,
  CH_STARTED,
  CH_SUBS,
  CELLS,
  DECODED,
  LONG_CELLS,
  SCRATCH,
  SECONDS,
} from './layout';

/**
 * Resampling onto the grid. The samples are joined by straight lines, and cell k is that line's average under a triangle
 * from k - 1 to k + 1: a linear phase low-pass, sinc^2(f / grid rate), which passes a line unchanged, needs no uniform
 * stamps and aliases less than 0.5 % of mains hum into the pulse band. The triangle is put together of two intervals
 * [k - 1, k] and [k, k + 1]. What is kept is the integral over an interval (area) and the integral of that integral (fall:
 * a cascaded integrator, Hogenauer 1981): the fall weighs the interval from 1 down to 0, the area less the fall from 0 up
 * to 1. Both are kept times six, which spares products.
 *
 * A cell that is not wholly covered by data or by a bridged gap holds NaN.
 */

/** Time resolution, in steps per second: rounding makes `t + i * period` the same number however it was chunked. */
const TICKS: f64 = 1048576;
/**
 * Takes `count` decoded instants, `t` and `period` in seconds.
 * @returns how many were missing
 */
export function pushInstants(channel: usize, t: f64, period: f64, count: i32): i32 {
  const missing = takeAll(channel, t, period, count) ? 0 : accept(channel, t, period, count);
  if (accepted) integrate(channel, accepted);
  return missing;
}

/** Instants that `accept` left, and their times, in cells. */
let accepted: i32 = 0;
const TIMES: usize = SCRATCH; // f64

/** Accepts all instants, if they are whole, within LIMIT and in order, as they mostly are; else none. */
function takeAll(channel: usize, t: f64, period: f64, count: i32): bool {
  const scale = <f64>load<i32>(channel + CH_RATE) / TICKS;
  const start = t * TICKS + 0.5;
  const step = period * TICKS;
  const last = load<i32>(channel + CH_STARTED) ? load<f64>(channel + CH_LAST_T) : 0;
  const end = Math.floor(start + step * <f64>(count - 1)) * scale;
  if (!(step >= 0 && Math.floor(start) * scale >= last && end < FAR)) return false;
  if (count & 1) v128.store(DECODED + (<usize>count << 4), f32x4.splat(0)); // two at a time
  const limit = f32x4.splat(LIMIT);
  let whole = i32x4.splat(-1);
  for (let i = 0; i < count; i += 2) {
    const at = <usize>i << 4;
    whole = v128.and(whole, f32x4.le(f32x4.abs(v128.load(at, DECODED)), limit));
    whole = v128.and(whole, f32x4.le(f32x4.abs(v128.load(at, DECODED + 16)), limit));
    const ticks = f64x2.add(f64x2.splat(start), f64x2.mul(f64x2.splat(step), f64x2(<f64>i, <f64>(i + 1))));
    v128.store(<usize>i << 3, f64x2.mul(f64x2.floor(ticks), f64x2.splat(scale)), TIMES);
  }
  if (!i32x4.all_true(whole)) return false;
  accepted = count;
  return true;
}

/**
 * Moves up what is to be used of the decoded instants: not those without any value, nor those out of order; a single lane
 * without one keeps its newest.
 * @returns how many were missing
 */
function accept(channel: usize, t: f64, period: f64, count: i32): i32 {
  const scale = <f64>load<i32>(channel + CH_RATE) / TICKS;
  const used = i8x16.bitmask(usedLanes(load<i32>(channel + CH_SUBS)));
  const start = t * TICKS + 0.5;
  const step = period * TICKS;
  const high = f32x4.splat(LIMIT);
  const low = f32x4.neg(high);
  let last = load<i32>(channel + CH_STARTED) ? load<f64>(channel + CH_LAST_T) : 0;
  let before = v128.load(channel + CH_LAST);
  let missing = 0;
  let kept: usize = 0;
  for (let i = 0; i < count; i++) {
    let x = v128.load(DECODED + (<usize>i << 4));
    const absent = i8x16.bitmask(f32x4.ne(x, x)); // lanes that are not used hold 0
    if (absent) {
      if (absent == used) {
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
  accepted = <i32>kept;
  return missing;
}

/** Integrates the accepted instants into cells: runs without a gap or the first sample of a second between. */
function integrate(channel: usize, count: i32): void {
  const rate = <f64>load<i32>(channel + CH_RATE);
  let i = 0;
  while (i < count) {
    const now = load<f64>(<usize>i << 3, TIMES);
    if (now >= <f64>load<i32>(channel + CH_NEXT_SECOND) * rate) passSeconds(channel, now, rate);
    const goesOn = load<i32>(channel + CH_STARTED) && now - load<f64>(channel + CH_LAST_T) <= BRIDGE_SECONDS * rate;
    if (goesOn) {
      i = integrateRun(channel, i, count);
    } else {
      begin(channel, now, v128.load(<usize>i << 4, DECODED));
      i++;
    }
  }
}

/** Takes the first sample, or the one behind a gap. */
function begin(channel: usize, now: f64, x: v128): void {
  const to = skipTo(channel, load<i32>(channel + CH_DONE), now);
  v128.store(channel + CH_AREA, f32x4.splat(0));
  v128.store(channel + CH_FALL, f32x4.splat(0));
  store<i32>(channel + CH_HOLE, -1);
  store<i32>(channel + CH_BEGUN, <f64>to == now ? 0 : -1);
  store<i32>(channel + CH_DONE, to);
  store<i32>(channel + CH_STARTED, 1);
  store<f64>(channel + CH_LAST_T, now);
  v128.store(channel + CH_LAST, x);
}

/**
 * Integrates from instant `i` on, which follows without a gap, to the next gap or second. The interval in progress stays in
 * registers from instant to instant (through memory each would wait for the one before), which is why this function is long.
 * @returns the instant after the run
 */
function integrateRun(channel: usize, i: i32, count: i32): i32 {
  const rate = <f64>load<i32>(channel + CH_RATE);
  const second = <f64>load<i32>(channel + CH_NEXT_SECOND) * rate;
  const bridge = BRIDGE_SECONDS * rate;
  const sixth = f32x4.splat(<f32>(1.0 / 6.0));
  let last = load<f64>(channel + CH_LAST_T);
  // End of the interval in progress; a second begins with an interval, and a gap ends in another
  let next = <f64>load<i32>(channel + CH_DONE) + 1;
  let before = v128.load(channel + CH_LAST);
  let area = v128.load(channel + CH_AREA);
  let fall = v128.load(channel + CH_FALL);
  let rise = v128.load(channel + CH_RISE);
  // All bits set where this cell, or the next, is not wholly covered: makes it a NaN
  let hole = v128.load32_splat(channel + CH_HOLE);
  let begun = v128.load32_splat(channel + CH_BEGUN);
  let cells: usize = 0;
  while (i < count) {
    let now = load<f64>(<usize>i << 3, TIMES);
    if (now >= next) {
      if (now >= second || now - last > bridge) break;
      const rest = f32x4.sub(v128.load(<usize>i << 4, DECODED), before);
      const slope = f32x4.div(rest, f32x4.splat(<f32>(now - last)));
      do {
        const width = f32x4.splat(<f32>(next - last));
        const edge = f32x4.add(before, f32x4.mul(slope, width));
        fall = f32x4.add(fall, fallOf(width, area, before, edge));
        area = f32x4.add(area, areaOf(width, before, edge));
        // The interval is over: its cell is the rising half of the one before and the falling half of this one
        v128.store(cells, v128.or(f32x4.mul(f32x4.add(rise, fall), sixth), hole), CELLS);
        hole = begun;
        begun = i32x4.splat(0);
        rise = f32x4.sub(area, fall);
        area = f32x4.splat(0);
        fall = area;
        before = edge;
        last = next;
        next += 1;
        cells += 16;
      } while (now >= next);
    }
    do {
      const x = v128.load(<usize>i << 4, DECODED);
      const width = f32x4.splat(<f32>(now - last));
      fall = f32x4.add(fall, fallOf(width, area, before, x));
      area = f32x4.add(area, areaOf(width, before, x));
      last = now;
      before = x;
      now = load<f64>(<usize>++i << 3, TIMES);
    } while (i < count && now < next);
  }
  store<f64>(channel + CH_LAST_T, last);
  store<i32>(channel + CH_DONE, <i32>(next - 1));
  v128.store(channel + CH_LAST, before);
  v128.store(channel + CH_AREA, area);
  v128.store(channel + CH_FALL, fall);
  v128.store(channel + CH_RISE, rise);
  store<i32>(channel + CH_HOLE, i32x4.extract_lane(hole, 0));
  store<i32>(channel + CH_BEGUN, i32x4.extract_lane(begun, 0));
  flush(channel, <i32>(cells >> 4));
  return i;
}

/** Larger readings are clamped: past any converter, and small enough that powers of a window stay finite in f32. */
export const LIMIT: f32 = 1e12;
/** Times past this many cells (97 days of ecg) are not taken. */
const FAR: f64 = 1e9;

/** Lanes that carry a sub-channel, all bits set. */
export function usedLanes(subs: i32): v128 {
  return i32x4.lt_s(i32x4(0, 1, 2, 3), i32x4.splat(subs));
}

/** Notes, for each second that `t` (in cells) is the first to reach, how many cells are complete without it. */
function passSeconds(channel: usize, t: f64, rate: f64): void {
  const first = load<i32>(channel + CH_NEXT_SECOND);
  const done = load<i32>(channel + CH_DONE);
  const next = <i32>(t / rate) + 1;
  for (let s = max(first, next - SECONDS); s < next; s++) {
    store<i32>(channel + CH_SECONDS + (<usize>(s & (SECONDS - 1)) << 2), done);
  }
  store<i32>(channel + CH_NEXT_SECOND, next);
}

/** Leaves the cells before the one of `t` empty; returns its index. */
function skipTo(channel: usize, done: i32, t: f64): i32 {
  const target = <i32>t;
  const from = max(done, target - LONG_CELLS);
  for (let sub = 0; sub < load<i32>(channel + CH_SUBS); sub++) {
    const cells = load<i32>(channel + CH_CELLS + (<usize>sub << 2));
    store<u16>(channel + CH_AT + (<usize>sub << 1), <u16>(from % cells));
  }
  for (let i = 0; i < target - from; i++) v128.store(CELLS + (<usize>i << 4), i32x4.splat(-1));
  flush(channel, target - from);
  return target;
}

/** Moves `count` cells into the rings. */
function flush(channel: usize, count: i32): void {
  const subs = load<i32>(channel + CH_SUBS);
  for (let sub: usize = 0; sub < <usize>subs; sub++) {
    const ring = <usize>load<u32>(channel + CH_RING + (sub << 2));
    const length = load<i32>(channel + CH_CELLS + (sub << 2));
    let at = <i32>load<u16>(channel + CH_AT + (sub << 1));
    for (let i = 0; i < count; i++) {
      store<f32>(ring + (<usize>at << 2), load<f32>(CELLS + (<usize>i << 4) + (sub << 2)));
      if (++at == length) at = 0;
    }
    store<u16>(channel + CH_AT + (sub << 1), <u16>at);
  }
}

/** Six times the integral of the line from a to b over the width. */
// @ts-ignore: decorator
@inline
function areaOf(width: v128, a: v128, b: v128): v128 {
  return f32x4.mul(f32x4.add(a, b), f32x4.mul(width, f32x4.splat(3)));
}

/** Six times the integral over the width of the area so far (`area`, six times it) and the line's. */
// @ts-ignore: decorator
@inline
function fallOf(width: v128, area: v128, a: v128, b: v128): v128 {
  return f32x4.mul(width, f32x4.add(area, f32x4.mul(width, f32x4.add(f32x4.add(a, b), a))));
}
