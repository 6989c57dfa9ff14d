import { CH_CELLS, CH_DONE, CH_NEXT_SECOND, CH_RING, CH_SECONDS, SECONDS } from './layout';

/** Cells of the channel that are complete by samples before `end` (whole seconds): the causal limit of a step. */
export function cellsAt(channel: usize, end: f64): i32 {
  const second = <i32>end;
  const next = load<i32>(channel + CH_NEXT_SECOND);
  if (second >= next) return load<i32>(channel + CH_DONE);
  if (second < next - SECONDS) return 0;
  return load<i32>(channel + CH_SECONDS + (<usize>(second & (SECONDS - 1)) << 2));
}

/**
 * Copies the cells [from, from + count) of a sub-channel to `to` (f32). Cells that are empty, not complete by `limit`
 * (see cellsAt) or no longer in the ring come out as NaN. Values are without the sub-channel's offset.
 * @returns how many of them hold a value
 */
export function copyCells(channel: usize, sub: i32, from: i32, count: i32, limit: i32, to: usize): i32 {
  const at = <usize>sub << 2;
  const ring = <usize>load<u32>(channel + CH_RING + at);
  const cells = load<i32>(channel + CH_CELLS + at);
  const oldest = max(0, load<i32>(channel + CH_DONE) - cells);
  const first = min(max(from, oldest), from + count);
  const past = max(min(from + count, limit), first);
  fillNaN(to, 0, first - from);
  const index = <i32>(<u32>first % <u32>cells);
  const before = min(past - first, cells - index);
  const held = copyRun(ring + (<usize>index << 2), to + (<usize>(first - from) << 2), before);
  const rest = copyRun(ring, to + (<usize>(first - from + before) << 2), past - first - before);
  fillNaN(to, past - from, count);
  return held + rest;
}

function fillNaN(x: usize, from: i32, to: i32): void {
  for (let i = from; i < to; i++) store<f32>(x + (<usize>i << 2), NaN);
}

/** Copies `count` values; returns how many are not NaN. */
function copyRun(from: usize, to: usize, count: i32): i32 {
  let lanes = i32x4.splat(0);
  let i: usize = 0;
  for (; i + 16 <= <usize>count << 2; i += 16) {
    const v = v128.load(from + i);
    v128.store(to + i, v);
    lanes = i32x4.sub(lanes, f32x4.eq(v, v)); // true is -1
  }
  let held = i32x4.extract_lane(lanes, 0) + i32x4.extract_lane(lanes, 1);
  held += i32x4.extract_lane(lanes, 2) + i32x4.extract_lane(lanes, 3);
  for (; i < <usize>count << 2; i += 4) {
    const x = load<f32>(from + i);
    store<f32>(to + i, x);
    held += <i32>(x == x);
  }
  return held;
}

/** Replaces NaN by a line between the neighbours (at the ends: by the nearest value, 0 where there is none). */
export function fillEmpty(x: usize, count: i32): void {
  let before = -1;
  for (let i = 0; i < count; i++) {
    const v = load<f32>(x + (<usize>i << 2));
    if (v != v) continue;
    if (before + 1 < i) fillBetween(x, before, i, before < 0 ? v : load<f32>(x + (<usize>before << 2)), v);
    before = i;
  }
  const last: f32 = before < 0 ? 0 : load<f32>(x + (<usize>before << 2));
  if (before + 1 < count) fillBetween(x, before, count, last, last);
}

function fillBetween(x: usize, before: i32, after: i32, left: f32, right: f32): void {
  const slope = (right - left) / <f32>(after - before);
  for (let i = before + 1; i < after; i++) store<f32>(x + (<usize>i << 2), left + slope * <f32>(i - before));
}

/** Empties so many vectors of four f32: for the few of them at which a call of memory.fill costs more than the stores. */
// @ts-ignore: decorator
@inline
export function clearVectors(at: usize, count: i32): void {
  for (let i: usize = 0; i < <usize>count << 4; i += 16) v128.store(at + i, f32x4.splat(0));
}

// @ts-ignore: decorator
@inline
export function sumLanes(v: v128): f32 {
  const pairs = f32x4.add(v, v128.shuffle<f32>(v, v, 2, 3, 0, 1));
  return f32x4.extract_lane(pairs, 0) + f32x4.extract_lane(pairs, 1);
}
