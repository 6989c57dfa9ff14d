import { Channel, SECONDS } from '../memory/channel';

/** Grid samples of the channel that are complete by samples before `end` (whole seconds): the causal limit of a step. */
export function completeBy(channel: Channel, end: f64): i32 {
  const second = <i32>end;
  if (second >= channel.nextSecond) return channel.complete;
  if (second < channel.nextSecond - SECONDS) return 0;
  return channel.completeAt[second & (SECONDS - 1)];
}

/**
 * Copies the grid samples [from, from + count) of a sub-channel to `to` (f32). Samples that are empty, not complete by
 * `limit` (see completeBy) or no longer in the ring become NaN. Values do not include the sub-channel's offset.
 * @returns the number of samples with a value
 */
export function copyGrid(channel: Channel, sub: i32, from: i32, count: i32, limit: i32, to: usize): i32 {
  const ring = channel.rings[sub];
  const oldest = max(0, channel.complete - ring.length);
  const first = min(max(from, oldest), from + count);
  const past = max(min(from + count, limit), first);
  fillNaN(to, 0, first - from);
  const index = <i32>(<u32>first % <u32>ring.length);
  const before = min(past - first, ring.length - index);
  const held = copyRun(ring.samples.at(index), to + ((<usize>(first - from)) << 2), before);
  const rest = copyRun(ring.samples.at(0), to + ((<usize>(first - from + before)) << 2), past - first - before);
  fillNaN(to, past - from, count);
  return held + rest;
}

function fillNaN(x: usize, from: i32, to: i32): void {
  for (let i = from; i < to; i++) store<f32>(x + ((<usize>i) << 2), NaN);
}

/** Copies `count` values; returns the number of those that are not NaN. */
function copyRun(from: usize, to: usize, count: i32): i32 {
  let lanes = i32x4.splat(0);
  let i: usize = 0;
  for (; i + 16 <= (<usize>count) << 2; i += 16) {
    const v = v128.load(from + i);
    v128.store(to + i, v);
    lanes = i32x4.sub(lanes, f32x4.eq(v, v)); // true is -1
  }
  let held = i32x4.extract_lane(lanes, 0) + i32x4.extract_lane(lanes, 1);
  held += i32x4.extract_lane(lanes, 2) + i32x4.extract_lane(lanes, 3);
  for (; i < (<usize>count) << 2; i += 4) {
    const x = load<f32>(from + i);
    store<f32>(to + i, x);
    held += <i32>!isNaN(x);
  }
  return held;
}

/** Replaces NaN by a straight line between the neighbours; at the ends by the nearest value, or by 0 if all are NaN. */
export function fillEmpty(x: usize, count: i32): void {
  let before = -1;
  for (let i = 0; i < count; i++) {
    const v = load<f32>(x + ((<usize>i) << 2));
    if (isNaN(v)) continue;
    if (before + 1 < i) fillBetween(x, before, i, before < 0 ? v : load<f32>(x + ((<usize>before) << 2)), v);
    before = i;
  }
  const last: f32 = before < 0 ? 0 : load<f32>(x + ((<usize>before) << 2));
  if (before + 1 < count) fillBetween(x, before, count, last, last);
}

function fillBetween(x: usize, before: i32, after: i32, left: f32, right: f32): void {
  const slope = (right - left) / <f32>(after - before);
  for (let i = before + 1; i < after; i++) store<f32>(x + ((<usize>i) << 2), left + slope * <f32>(i - before));
}
