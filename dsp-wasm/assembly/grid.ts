import {
  BRIDGE_SECONDS,
  CH_AREA,
  CH_AT,
  CH_BEGUN,
  CH_CELLS,
  CH_DONE,
  CH_HOLE,
  CH_LAST,
  CH_LAST_T,
  CH_MOMENT,
  CH_NEXT_SECOND,
  CH_RATE,
  CH_RING,
  CH_RISE,
  CH_SECONDS,
  CH_STARTED,
  CH_SUBS,
  CELLS,
  CELLS_COUNT,
  DECODED,
  LONG_CELLS,
  SECONDS,
} from './layout';

/**
 * Resampling onto the grid. The samples are joined by straight lines, and cell k is that line's average under a triangle
 * from k - 1 to k + 1: a linear phase low-pass, sinc^2(f / grid rate), which passes a line unchanged, needs no uniform
 * stamps and aliases less than 0.5 % of mains hum into the pulse band. The triangle is put together of two intervals
 * [k - 1, k] and [k, k + 1], of which area and first moment are kept (as in a cascaded integrator, Hogenauer 1981).
 *
 * A cell that is not wholly covered by data or by a bridged gap holds NaN.
 */

/** Time resolution, in steps per second: rounding makes `t + i * period` the same number however it was chunked. */
const TICKS: f64 = 1048576;
/** A NaN in each lane. */
// @ts-ignore: decorator
@inline
function holes(): v128 {
  return i32x4.splat(-1);
}

/**
 * Takes `count` decoded instants, `t` and `period` in seconds. The interval in progress stays in registers from instant to
 * instant (through memory each would wait for the one before), which is why this function is long.
 * @returns how many were missing
 */
export function pushInstants(channel: usize, t: f64, period: f64, count: i32): i32 {
  const rate = <f64>load<i32>(channel + CH_RATE);
  const used = usedLanes(load<i32>(channel + CH_SUBS));
  const bridge = BRIDGE_SECONDS * rate;
  const start = t * TICKS + 0.5;
  const step = period * TICKS;
  const scale = rate / TICKS;
  const high = f32x4.splat(LIMIT);
  const low = f32x4.neg(high);
  let missing = 0;
  let second = <f64>load<i32>(channel + CH_NEXT_SECOND) * rate;
  let last = load<i32>(channel + CH_STARTED) ? load<f64>(channel + CH_LAST_T) : NaN;
  let k = <f64>load<i32>(channel + CH_DONE);
  let u = <f32>(last - k); // place of the newest sample in the interval
  let before = v128.load(channel + CH_LAST);
  let area = v128.load(channel + CH_AREA);
  let moment = v128.load(channel + CH_MOMENT);
  let rise = v128.load(channel + CH_RISE);
  // All bits set where this cell, or the next, is not wholly covered: they make it a NaN
  let hole = v128.load32_splat(channel + CH_HOLE);
  let begun = v128.load32_splat(channel + CH_BEGUN);
  let cells = 0;
  for (let i = 0; i < count; i++) {
    let x = v128.load(DECODED + (<usize>i << 4));
    const absent = f32x4.ne(x, x); // lanes that are not used hold 0
    if (v128.any_true(absent)) {
      if (i8x16.bitmask(absent) == i8x16.bitmask(used)) {
        missing++;
        continue;
      }
      x = v128.bitselect(before, x, absent);
    }
    x = f32x4.pmax(f32x4.pmin(x, high), low);
    const now = Math.floor(start + step * <f64>i) * scale;
    if (now >= second) {
      second = passSeconds(channel, now, rate, <i32>k);
    }
    if (!(now - last <= bridge)) {
      // The first sample (last is NaN), or one behind a gap
      if (!(now >= 0 && now < FAR)) continue;
      cells = flush(channel, cells);
      k = skipTo(channel, <i32>k, now);
      area = f32x4.splat(0);
      moment = area;
      hole = holes();
      begun = k == now ? area : hole;
      last = now;
      u = <f32>(now - k);
      before = x;
      continue;
    }
    if (now < last) continue; // out of order
    if (now >= k + 1) {
      const slope = f32x4.mul(f32x4.sub(x, before), f32x4.splat(<f32>(1 / (now - last))));
      do {
        const du = <f32>1 - u;
        const edge = f32x4.add(before, f32x4.mul(slope, f32x4.splat(du)));
        const a = areaOf(du, before, edge);
        moment = f32x4.add(moment, momentOf(a, u, du, before, edge));
        // The interval is over: its cell is the rising half of the one before and the falling half of this one
        const cell = f32x4.add(rise, f32x4.sub(f32x4.add(area, a), moment));
        v128.store(CELLS + (<usize>cells << 4), v128.or(cell, hole));
        hole = begun;
        begun = f32x4.splat(0);
        rise = moment;
        area = begun;
        moment = begun;
        before = edge;
        k += 1;
        u = 0;
        if (++cells == CELLS_COUNT) cells = flush(channel, cells);
      } while (now >= k + 1);
    }
    const to = <f32>(now - k);
    const du = to - u;
    const a = areaOf(du, before, x);
    area = f32x4.add(area, a);
    moment = f32x4.add(moment, momentOf(a, u, du, before, x));
    u = to;
    last = now;
    before = x;
  }
  flush(channel, cells);
  if (last == last) store<i32>(channel + CH_STARTED, 1);
  store<f64>(channel + CH_LAST_T, last);
  store<i32>(channel + CH_DONE, <i32>k);
  v128.store(channel + CH_LAST, before);
  v128.store(channel + CH_AREA, area);
  v128.store(channel + CH_MOMENT, moment);
  v128.store(channel + CH_RISE, rise);
  store<i32>(channel + CH_HOLE, i32x4.extract_lane(hole, 0));
  store<i32>(channel + CH_BEGUN, i32x4.extract_lane(begun, 0));
  return missing;
}

/** Larger readings are clamped: past any converter, and small enough that powers of a window stay finite in f32. */
export const LIMIT: f32 = 1e12;
/** Times past this many cells (97 days of ecg) are not taken. */
const FAR: f64 = 1e9;

/** Lanes that carry a sub-channel, all bits set. */
function usedLanes(subs: i32): v128 {
  return i32x4.lt_s(i32x4(0, 1, 2, 3), i32x4.splat(subs));
}

/**
 * Notes, for each second that `t` is the first to reach, how many cells are complete without it.
 * @returns the next such second, in cells
 */
function passSeconds(channel: usize, t: f64, rate: f64, done: i32): f64 {
  if (!(t < FAR)) return <f64>load<i32>(channel + CH_NEXT_SECOND) * rate;
  const first = load<i32>(channel + CH_NEXT_SECOND);
  const next = <i32>(t / rate) + 1;
  for (let s = max(first, next - SECONDS); s < next; s++) {
    store<i32>(channel + CH_SECONDS + (<usize>(s & (SECONDS - 1)) << 2), done);
  }
  store<i32>(channel + CH_NEXT_SECOND, next);
  return <f64>next * rate;
}

/** Leaves the cells before the one of `t` empty; returns its index. */
function skipTo(channel: usize, done: i32, t: f64): f64 {
  const target = <i32>t;
  const from = max(done, target - LONG_CELLS);
  for (let sub = 0; sub < load<i32>(channel + CH_SUBS); sub++) {
    const cells = load<i32>(channel + CH_CELLS + (<usize>sub << 2));
    store<u16>(channel + CH_AT + (<usize>sub << 1), <u16>(from % cells));
  }
  for (let i = 0; i < target - from; i++) v128.store(CELLS + (<usize>i << 4), holes());
  flush(channel, target - from);
  return <f64>target;
}

/** Moves `count` cells into the rings; returns 0. */
function flush(channel: usize, count: i32): i32 {
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
  return 0;
}

/** Integral of the line from a to b over the width du. */
// @ts-ignore: decorator
@inline
function areaOf(du: f32, a: v128, b: v128): v128 {
  return f32x4.mul(f32x4.add(a, b), f32x4.splat(<f32>0.5 * du));
}

/** First moment of the line of that area from (u, a) to (u + du, b); u counts from the interval's start. */
// @ts-ignore: decorator
@inline
function momentOf(area: v128, u: f32, du: f32, a: v128, b: v128): v128 {
  const skew = f32x4.mul(f32x4.sub(b, a), f32x4.splat(du * du * <f32>(1.0 / 12.0)));
  return f32x4.add(f32x4.mul(area, f32x4.splat(u + <f32>0.5 * du)), skew);
}
