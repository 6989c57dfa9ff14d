import { ramp } from '../math/ramp';
import { Row } from '../memory/row';
import { Beats, LOWER as FIRST_HALF, KEPT, MAX_BEATS, POLYNOMIAL as SECOND_HALF } from './scratch';
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
  beats.meanHeight = meanOf(beats.height, 0, count);
  let regular = 0;
  let clean = 0;
  let sum: f32 = 0;
  let known = 0;
  for (let i = 0; i < NEIGHBOURS; i++) known = enter(beats.interval[i], known);
  for (let i = 0; i < count; i++) {
    if (i + NEIGHBOURS < count) known = enter(beats.interval[i + NEIGHBOURS], known);
    if (i > NEIGHBOURS) known = leave(beats.interval[i - NEIGHBOURS - 1], known);
    const usual = known ? KEPT[known >> 1] : <f32>NaN;
    const steady = abs(beats.interval[i] - usual) <= BEAT.REGULAR * usual;
    const after = i === 0 || beats.steady[i - 1];
    beats.steady[i] = steady;
    regular += <i32>steady;
    if (steady) sum += beats.interval[i];
    clean += <i32>(steady && after);
  }
  beats.steadyCount = regular;
  beats.meanInterval = sum / <f32>regular;
  // The tracker remembers a breath for minutes, also where a sensor has left the skin. Peaks of noise have unequal intervals.
  const misleads = beats.meanInterval > BEAT.LONGEST_SAMPLING || isCyclic(beats);
  beats.trust = misleads ? 0 : ramp<f32>(<f32>clean / <f32>count, BEAT.NONE, BEAT.TRUE);
  return beats.meanInterval > 0;
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
 * Length of a pattern in which a series of the beats repeats as with no breath, in beats; 0 for none: the same beat of every second to sixth is weak, as in
 * a block of the conduction, with a pacemaker, or where the second wave of a long beat passes for a pulse. Such a pattern holds much of the
 * variance in both halves of the window, and is not one sinusoid. One of two or three beats always is; there, none of a breath is so steady.
 */
export function patternOf(values: Row<f32>, count: i32, shortest: i32): i32 {
  const variance = deviations(values, count);
  for (let length = shortest; length <= min(BEAT.LONGEST_CYCLE, count / 2); length++) {
    const shared = sharedBy(count, length);
    if (shared > BEAT.REPEATED * variance && !isRound(length, shared)) return length;
  }
  return 0;
}

/** Whether a series repeats after so many beats, in whichever shape. */
export function repeats(values: Row<f32>, count: i32, length: i32): bool {
  return length > 0 && deviations(values, count) * BEAT.REPEATED < sharedBy(count, length);
}

/** Writes into KEPT how the values differ from the mean of those about them; returns their weighted variance. */
function deviations(values: Row<f32>, count: i32): f32 {
  let squares: f32 = 0;
  let known: f32 = 0;
  for (let i = 0; i < count; i++) {
    const x = values[i] - meanOf(values, max(0, i - BEAT.LONGEST_CYCLE), min(count, i + BEAT.LONGEST_CYCLE));
    KEPT[i] = x;
    if (isNaN(x)) continue;
    const weight = weightOf(i, count);
    squares += weight * x * x;
    known += weight;
  }
  return squares / known;
}

/** Writes the pattern of each half of the window; returns the mean product of the two, which noise does not raise. */
function sharedBy(count: i32, length: i32): f32 {
  const middle = count / 2;
  let shared: f32 = 0;
  for (let k = 0; k < length; k++) {
    FIRST_HALF[k] = meanOfEvery(length, k, middle, count);
    SECOND_HALF[k] = meanOfEvery(length, k + length * ((middle - k + length - 1) / length), count, count);
    shared += FIRST_HALF[k] * SECOND_HALF[k];
  }
  return shared / <f32>length;
}

/** Whether the patterns are those of a breath: a sinusoid, or of a few beats, and then not at the same place in both. */
function isRound(length: i32, shared: f32): bool {
  if (length > 3) {
    for (let cycles = 1; 2 * cycles < length; cycles++) {
      if (sharedAt(length, cycles) > BEAT.ROUND * shared) return true;
    }
    return false;
  }
  let own: f32 = 0;
  for (let k = 0; k < length; k++) own += FIRST_HALF[k] * FIRST_HALF[k] + SECOND_HALF[k] * SECOND_HALF[k];
  return (BEAT.ROUND * own) / <f32>length > <f32>2 * shared;
}

/** Part of what the patterns share at so many cycles in their length. */
function sharedAt(length: i32, cycles: i32): f32 {
  let re = f32x4.splat(0);
  let im = re;
  for (let k = 0; k < length; k++) {
    const angle = (2 * Math.PI * <f64>(k * cycles)) / <f64>length;
    const both = f32x4(FIRST_HALF[k], SECOND_HALF[k], 0, 0);
    re = f32x4.add(re, f32x4.mul(both, f32x4.splat(<f32>Math.cos(angle))));
    im = f32x4.add(im, f32x4.mul(both, f32x4.splat(<f32>Math.sin(angle))));
  }
  const reals = f32x4.extract_lane(re, 0) * f32x4.extract_lane(re, 1);
  const imaginaries = f32x4.extract_lane(im, 0) * f32x4.extract_lane(im, 1);
  return (<f32>2 * (reals + imaginaries)) / <f32>(length * length);
}

/** Weighted mean of the known ones of every `step`-th value of KEPT from `from` to before `past`. */
function meanOfEvery(step: i32, from: i32, past: i32, count: i32): f32 {
  let sum: f32 = 0;
  let known: f32 = 0;
  for (let i = from; i < past; i += step) {
    if (isNaN(KEPT[i])) continue;
    const weight = weightOf(i, count);
    sum += weight * KEPT[i];
    known += weight;
  }
  return sum / known;
}

/** Weight of a beat of a window: less towards its ends, as in the spectra. */
function weightOf(i: i32, count: i32): f32 {
  return <f32>min(i + 1, count - i);
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
  for (let i = 0; i + lag < beats.count; i++)
    if (beats.kind[i] === beats.kind[i + lag]) count = enter(beats.time[i + lag] - beats.time[i], count);
  if (!count) return 0;
  return (KEPT[(3 * count) >> 2] - KEPT[count >> 2]) / 2;
}

/** Mean of the known values from `from` to before `past`. */
function meanOf(values: Row<f32>, from: i32, past: i32): f32 {
  let sum: f32 = 0;
  let known: f32 = 0;
  for (let i = from; i < past; i++) {
    if (isNaN(values[i])) continue;
    sum += values[i];
    known++;
  }
  return sum / known;
}

/** Puts x, unless it is unknown, into its place among the first `count` of KEPT, which ascend; returns their number. */
function enter(x: f32, count: i32): i32 {
  if (isNaN(x)) return count;
  let at = count;
  for (; at > 0 && KEPT[at - 1] > x; at--) KEPT[at] = KEPT[at - 1];
  KEPT[at] = x;
  return count + 1;
}

/** Takes x, unless it is unknown, out of them. */
function leave(x: f32, count: i32): i32 {
  if (isNaN(x)) return count;
  let next = KEPT[count - 1];
  for (let at = count - 2; next !== x; at--) {
    const here = KEPT[at];
    KEPT[at] = next;
    next = here;
  }
  return count - 1;
}
