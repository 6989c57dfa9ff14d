import {
  BRIDGE_SECONDS,
  CH_AREA,
  CH_CELLS,
  CH_COVERED,
  CH_DONE,
  CH_LAST,
  CH_LAST_T,
  CH_MOMENT,
  CH_NEXT_SECOND,
  CH_RATE,
  CH_RING,
  CH_RISE,
  CH_RISE_VALID,
  CH_SECONDS,
  CH_STARTED,
  CH_SUBS,
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

/**
 * Takes `count` decoded instants, `t` and `period` in seconds.
 * @returns how many were missing
 */
export function pushInstants(channel: usize, t: f64, period: f64, count: i32): i32 {
  const rate = <f64>load<i32>(channel + CH_RATE);
  const used = usedLanes(load<i32>(channel + CH_SUBS));
  let missing = 0;
  for (let i = 0; i < count; i++) {
    let x = v128.load(DECODED + (<usize>i << 4));
    const absent = v128.and(f32x4.ne(x, x), used);
    if (v128.any_true(absent)) {
      if (i8x16.bitmask(absent) == i8x16.bitmask(used)) {
        missing++;
        continue;
      }
      x = v128.bitselect(v128.load(channel + CH_LAST), x, absent);
    }
    pushInstant(channel, Math.floor((t + period * <f64>i) * TICKS + 0.5) * (rate / TICKS), x, rate);
  }
  return missing;
}

/** Lanes that carry a sub-channel, all bits set. */
function usedLanes(subs: i32): v128 {
  return i32x4.lt_s(i32x4(0, 1, 2, 3), i32x4.splat(subs));
}

/** Takes one instant at time `t`, in cells. */
// @ts-ignore: decorator
@inline
function pushInstant(channel: usize, t: f64, x: v128, rate: f64): void {
  const last = load<f64>(channel + CH_LAST_T);
  if (!load<i32>(channel + CH_STARTED)) return begin(channel, t, x, rate);
  if (!(t >= last)) return; // not in time order
  if (t > <f64>load<i32>(channel + CH_NEXT_SECOND) * rate) passSeconds(channel, t, rate);
  if (t - last > BRIDGE_SECONDS * rate) {
    skipTo(channel, t);
  } else {
    join(channel, last, t, x);
  }
  store<f64>(channel + CH_LAST_T, t);
  v128.store(channel + CH_LAST, x);
}

function begin(channel: usize, t: f64, x: v128, rate: f64): void {
  if (!(t >= 0 && t < 1e9)) return;
  store<i32>(channel + CH_STARTED, 1);
  passSeconds(channel, t, rate);
  skipTo(channel, t);
  store<f64>(channel + CH_LAST_T, t);
  v128.store(channel + CH_LAST, x);
}

/** Notes, for each second that `t` is the first to lie past, how many cells are complete without it. */
function passSeconds(channel: usize, t: f64, rate: f64): void {
  const first = load<i32>(channel + CH_NEXT_SECOND);
  const next = <i32>Math.ceil(t / rate);
  const done = load<i32>(channel + CH_DONE);
  for (let s = max(first, next - SECONDS); s < next; s++) {
    store<i32>(channel + CH_SECONDS + (<usize>(s & (SECONDS - 1)) << 2), done);
  }
  store<i32>(channel + CH_NEXT_SECOND, next);
}

/** Leaves everything before `t` empty. */
function skipTo(channel: usize, t: f64): void {
  const target = <i32>Math.floor(t);
  const done = load<i32>(channel + CH_DONE);
  store<f64>(channel + CH_COVERED, 0);
  if (target <= done) return;
  for (let k = max(done, target - LONG_CELLS); k < target; k++) putEmpty(channel, k);
  store<i32>(channel + CH_DONE, target);
  store<i32>(channel + CH_RISE_VALID, 0);
  clearInterval(channel);
}

/** Integrates the line from the newest sample to (t, x), and completes the cells on the way. */
// @ts-ignore: decorator
@inline
function join(channel: usize, last: f64, t: f64, x: v128): void {
  let k = load<i32>(channel + CH_DONE);
  let from = last;
  let x0 = v128.load(channel + CH_LAST);
  if (t >= <f64>(k + 1)) {
    const slope = f32x4.mul(f32x4.sub(x, x0), f32x4.splat(<f32>(1 / (t - last))));
    do {
      const edge = <f64>(k + 1);
      const x1 = f32x4.add(x0, f32x4.mul(slope, f32x4.splat(<f32>(edge - from))));
      integrate(channel, from - <f64>k, edge - from, x0, x1);
      completeCell(channel, k);
      from = edge;
      x0 = x1;
      k++;
    } while (t >= <f64>(k + 1));
    store<i32>(channel + CH_DONE, k);
  }
  integrate(channel, from - <f64>k, t - from, x0, x);
}

/** Adds the line from (u, a) to (u + du, b) to area and moment; u counts from the interval's start. */
// @ts-ignore: decorator
@inline
function integrate(channel: usize, u: f64, du: f64, a: v128, b: v128): void {
  const width = f32x4.splat(<f32>du);
  const area = f32x4.mul(f32x4.mul(f32x4.add(a, b), f32x4.splat(0.5)), width);
  const skew = f32x4.mul(f32x4.mul(f32x4.sub(b, a), f32x4.splat(<f32>(1.0 / 12.0))), f32x4.mul(width, width));
  const moment = f32x4.add(f32x4.mul(area, f32x4.splat(<f32>(u + 0.5 * du))), skew);
  v128.store(channel + CH_AREA, f32x4.add(v128.load(channel + CH_AREA), area));
  v128.store(channel + CH_MOMENT, f32x4.add(v128.load(channel + CH_MOMENT), moment));
  store<f64>(channel + CH_COVERED, load<f64>(channel + CH_COVERED) + du);
}

/** Interval k is over: cell k is the rising half of the interval before and the falling half of this one. */
// @ts-ignore: decorator
@inline
function completeCell(channel: usize, k: i32): void {
  const moment = v128.load(channel + CH_MOMENT);
  const cell = f32x4.add(v128.load(channel + CH_RISE), f32x4.sub(v128.load(channel + CH_AREA), moment));
  const valid = load<f64>(channel + CH_COVERED) > 0.999999;
  if (valid && load<i32>(channel + CH_RISE_VALID)) putCell(channel, k, cell);
  else putEmpty(channel, k);
  v128.store(channel + CH_RISE, moment);
  store<i32>(channel + CH_RISE_VALID, <i32>valid);
  clearInterval(channel);
}

function clearInterval(channel: usize): void {
  v128.store(channel + CH_AREA, f32x4.splat(0));
  v128.store(channel + CH_MOMENT, f32x4.splat(0));
  store<f64>(channel + CH_COVERED, 0);
}

function putCell(channel: usize, k: i32, x: v128): void {
  const subs = load<i32>(channel + CH_SUBS);
  putSub(channel, 0, k, f32x4.extract_lane(x, 0));
  if (subs > 1) putSub(channel, 1, k, f32x4.extract_lane(x, 1));
  if (subs > 2) putSub(channel, 2, k, f32x4.extract_lane(x, 2));
  if (subs > 3) putSub(channel, 3, k, f32x4.extract_lane(x, 3));
}

function putEmpty(channel: usize, k: i32): void {
  putCell(channel, k, f32x4.splat(NaN));
}

// @ts-ignore: decorator
@inline
function putSub(channel: usize, sub: usize, k: i32, x: f32): void {
  const ring = <usize>load<u32>(channel + CH_RING + (sub << 2));
  const at = <u32>k % <u32>load<i32>(channel + CH_CELLS + (sub << 2));
  store<f32>(ring + (<usize>at << 2), x);
}
