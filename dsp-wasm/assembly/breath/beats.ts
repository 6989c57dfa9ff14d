import { insert } from '../math/order';
import { ramp } from '../math/ramp';
import { Row } from '../memory/row';
import { Beats, KEPT, MAX_BEATS } from './scratch';
import { BEAT } from './tuning';

/**
 * Which beats of a window tell of the breath. An early or late beat has its cause in the heart, not in breathing, and is left out.
 */

/** Number of beats before and after a beat, with whose median its interval is compared. */
const NEIGHBOURS: i32 = 3;

/** Adds a beat: seconds from the window's end (negative, ascending), seconds since the previous beat; unknown values are NaN. */
export function addBeat(beats: Beats, time: f32, interval: f32, height: f32, baseline: f32, kind: i32): void {
  if (beats.count >= MAX_BEATS) return;
  const i = beats.count++;
  beats.time[i] = time;
  beats.interval[i] = interval;
  beats.height[i] = height;
  beats.baseline[i] = baseline;
  beats.kind[i] = kind;
}

/** Completes the added beats' common properties, and says which are steady; false if there are too few. */
export function judgeBeats(beats: Beats): bool {
  const count = beats.count;
  if (count < BEAT.FEWEST) return false;
  beats.meanHeight = meanOf(beats.height, count);
  let regular = 0;
  let clean = 0;
  let sum: f32 = 0;
  spread(beats);
  for (let i = 0; i < count; i += 4) {
    const own = v128.load(KEPT.at(i + NEIGHBOURS));
    const usual = mediansAt(i);
    const near = f32x4.le(f32x4.abs(f32x4.sub(own, usual)), f32x4.mul(f32x4.splat(BEAT.REGULAR), usual));
    const bits = i32x4.bitmask(near);
    for (let k = 0; k < 4; k++) beats.steady[i + k] = ((bits >> k) & 1) !== 0;
  }
  for (let i = 0; i < count; i++) {
    const steady = beats.steady[i];
    regular += <i32>steady;
    if (steady) sum += beats.interval[i];
    clean += <i32>(steady && (i === 0 || beats.steady[i - 1]));
  }
  beats.steadyCount = regular;
  beats.meanInterval = sum / <f32>regular;
  // The tracker remembers a breath for minutes, also where a sensor has left the skin. Peaks of noise have unequal intervals.
  const misleads = beats.meanInterval > BEAT.LONGEST_SAMPLING || isCyclic(beats);
  beats.trust = misleads ? 0 : ramp<f32>(<f32>clean / <f32>count, BEAT.NONE, BEAT.TRUE);
  return beats.meanInterval > 0;
}

/** Writes the intervals to KEPT from NEIGHBOURS on, unknown ones, and those beyond the first and the last, as infinite. */
function spread(beats: Beats): void {
  for (let i = 0; i < NEIGHBOURS; i++) KEPT[i] = Infinity;
  for (let i = 0; i < beats.count; i++) KEPT[i + NEIGHBOURS] = isNaN(beats.interval[i]) ? Infinity : beats.interval[i];
  for (let i = 0; i < NEIGHBOURS + 3; i++) KEPT[i + NEIGHBOURS + beats.count] = Infinity;
}

/** Medians of the known intervals about each of four beats, the upper one of an even number; infinite where none is known. */
function mediansAt(i: i32): v128 {
  let known = i32x4.splat(0);
  // The four smallest in order
  let a = f32x4.splat(Infinity);
  let b = a;
  let c = a;
  let d = a;
  for (let k = 0; k <= 2 * NEIGHBOURS; k++) {
    const x = v128.load(KEPT.at(i + k));
    known = i32x4.sub(known, f32x4.lt(x, f32x4.splat(Infinity)));
    const a1 = f32x4.pmax(a, x);
    a = f32x4.pmin(a, x);
    const b1 = f32x4.pmax(b, a1);
    b = f32x4.pmin(b, a1);
    const c1 = f32x4.pmax(c, b1);
    c = f32x4.pmin(c, b1);
    d = f32x4.pmin(d, c1);
  }
  const lower = v128.bitselect(b, a, i32x4.ge_s(known, i32x4.splat(2)));
  const upper = v128.bitselect(d, c, i32x4.ge_s(known, i32x4.splat(6)));
  return v128.bitselect(upper, lower, i32x4.ge_s(known, i32x4.splat(4)));
}

/**
 * Whether the irregular beats, or those of another kind, come after equal numbers of beats, as premature or aberrant beats after every third
 * normal one, or pauses in a block of every fifth beat. Then the rhythm itself modulates all series, like a breath of that period, its half or
 * its double.
 */
function isCyclic(beats: Beats): bool {
  let last = -1;
  let before = 0;
  let cycles = 0;
  let equal = 0;
  let wasApart = !beats.steady[0];
  for (let i = 1; i < beats.count; i++) {
    const isApart = !beats.steady[i] || beats.kind[i] !== beats.kind[i - 1];
    const begins = isApart && !wasApart;
    wasApart = isApart;
    if (!begins) continue;
    if (last >= 0) {
      const length = i - last;
      equal += <i32>(length === before && length <= BEAT.LONGEST_CYCLE);
      before = length;
      cycles++;
    }
    last = i;
  }
  return cycles >= BEAT.FEWEST_CYCLES && 2 * equal >= cycles - 1;
}

/**
 * How far the beats are out of step with the samples, from 0 to 1: 0 up to the deviation `inStep` from even steps, s, and 1 from twice as much on.
 * Even beats meet the samples at phases that repeat, which looks like a breath. Deviations of a third of the sampling period leave 11 % of that,
 * exp(-2 (pi deviation / period)^2). They add up over an eighth of the beats, unless that is a whole number of breaths.
 */
export function outOfStep(beats: Beats, inStep: f32): f32 {
  const most: f32 = 2 * inStep;
  const over = spreadOfSpans(beats, beats.count >> 3);
  return over >= most ? 1 : ramp<f32>(max(over, spreadOfSpans(beats, 1)), inStep, most);
}

/** Half of the interquartile range of the spans of `lag` beats, s, between beats of one kind: robust against single early beats and gaps. */
function spreadOfSpans(beats: Beats, lag: i32): f32 {
  let count = 0;
  for (let i = 0; i + lag < beats.count; i++) {
    if (beats.kind[i] === beats.kind[i + lag]) count = insert(KEPT, count, beats.time[i + lag] - beats.time[i]);
  }
  if (!count) return 0;
  return (KEPT[(3 * count) >> 2] - KEPT[count >> 2]) / 2;
}

/** Mean of the known ones of `count` values. */
function meanOf(values: Row<f32>, count: i32): f32 {
  let sum: f32 = 0;
  let known: f32 = 0;
  for (let i = 0; i < count; i++) {
    if (isNaN(values[i])) continue;
    sum += values[i];
    known++;
  }
  return sum / known;
}
