import { CH_CELLS, CH_DONE, CH_NEXT_SECOND, CH_RING, CH_SECONDS, SECONDS } from './layout';

/** Cells of the channel that are complete by samples at or before `end` (whole seconds): the causal limit of a step. */
export function cellsAt(channel: usize, end: f64): i32 {
  const second = <i32>end;
  const next = load<i32>(channel + CH_NEXT_SECOND);
  if (second >= next) return load<i32>(channel + CH_DONE);
  if (second < next - SECONDS) return 0;
  return load<i32>(channel + CH_SECONDS + ((<usize>(second & (SECONDS - 1))) << 2));
}

/**
 * Copies the cells [from, from + count) of a sub-channel to `to` (f32). Cells that are empty, not complete by `limit`
 * (see cellsAt) or no longer in the ring come out as NaN. Values are without the sub-channel's offset.
 * @returns how many of them hold a value
 */
export function copyCells(channel: usize, sub: i32, from: i32, count: i32, limit: i32, to: usize): i32 {
  const at = (<usize>sub) << 2;
  const ring = <usize>load<u32>(channel + CH_RING + at);
  const cells = load<i32>(channel + CH_CELLS + at);
  const oldest = max(0, load<i32>(channel + CH_DONE) - cells);
  const first = min(max(from, oldest), from + count);
  const past = max(min(from + count, limit), first);
  for (let k = from; k < first; k++) store<f32>(to + ((<usize>(k - from)) << 2), NaN);
  let held = 0;
  let index = <i32>(<u32>first % <u32>cells);
  for (let k = first; k < past; k++) {
    const x = load<f32>(ring + ((<usize>index) << 2));
    store<f32>(to + ((<usize>(k - from)) << 2), x);
    held += <i32>(x == x);
    if (++index == cells) index = 0;
  }
  for (let k = past; k < from + count; k++) store<f32>(to + ((<usize>(k - from)) << 2), NaN);
  return held;
}

/** Replaces NaN by a line between the neighbours (at the ends: by the nearest value, 0 where there is none). */
export function fillEmpty(x: usize, count: i32): void {
  let before = -1;
  let level: f32 = 0;
  for (let i = 0; i < count; i++) {
    const v = load<f32>(x + ((<usize>i) << 2));
    if (v != v) continue;
    if (before + 1 < i) fillLine(x, before, i, before < 0 ? v : level, v);
    before = i;
    level = v;
  }
  fillLine(x, before, count, level, level);
}

/** A line from `left` at cell `before` to `right` at cell `after`, into the cells between. */
function fillLine(x: usize, before: i32, after: i32, left: f32, right: f32): void {
  const slope = (right - left) / <f32>(after - before);
  for (let i = before + 1; i < after; i++) store<f32>(x + ((<usize>i) << 2), left + slope * <f32>(i - before));
}
