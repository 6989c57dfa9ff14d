import { Row } from '../memory/row';
import {
  BASELINE,
  BEATS,
  CLEAN,
  HEIGHT,
  INTERVAL,
  KEPT,
  KEPT_TIME,
  KIND,
  MAX_BEATS,
  POINTS,
  SORT,
  STEADY,
  TIME,
  USUAL,
  WIDTH,
} from './scratch';
import { laneOf, SERIES_HZ } from './series';
import {
  CREDIBLE,
  CYCLIC,
  FEWEST_BEATS,
  FEWEST_CYCLES,
  FEWEST_GOOD,
  LONGEST_CYCLE,
  LONGEST_SAMPLING,
  NO_BEATS,
  REGULAR,
  REPEATED,
  STEADY_SHARE,
  TRUE_BEATS,
} from './tuning';

/**
 * The effect of breathing on the beats, as series of 4 Hz: their intervals (respiratory sinus arrhythmia, frequency
 * modulation), heights (amplitude modulation) and baselines (Charlton et al., Physiol. Meas. 37:610, 2016), and the widths of pulses
 * (Lázaro et al., Med. Biol. Eng. Comput. 51:233, 2013). An early or late beat has its cause in the heart, not in breathing. It is left
 * out, in heights together with the next beat, which is larger after the longer pause.
 */

/** Number of beats before and after a beat, with whose median its interval is compared. */
const NEIGHBOURS: i32 = 3;

/**
 * How far the beats are out of step with the samples, from 0 to 1: 0 up to that deviation from even steps, s, 1 from twice as much on. Even beats meet the
 * samples at places that turn in a rhythm of their own, and what that does to their measures looks like a breath; of such a rhythm, deviations of a third of
 * the samples' period leave 11 %, exp(-2 (pi deviation / period)^2). They add up over an eighth of the beats, unless that is a whole number of breaths.
 */
export function outOfStep(inStep: f32): f32 {
  const deviation = max(spreadOfSpans(BEATS.count >> 3), spreadOfSpans(1));
  return max<f32>(0, min<f32>(1, deviation / inStep - 1));
}

/**
 * Half of the distance between the quartiles of the spans of so many beats, s, between beats of one kind: single early beats and gaps do not
 * matter.
 */
function spreadOfSpans(beats: i32): f32 {
  let count = 0;
  for (let i = 0; i + beats < BEATS.count; i++)
    if (KIND[i] === KIND[i + beats]) insert(TIME[i + beats] - TIME[i], count++);
  if (!count) return 0;
  return (KEPT[(3 * count) >> 2] - KEPT[count >> 2]) / 2;
}

/** Clears the beats of the previous window. */
export function clearBeats(): void {
  BEATS.count = 0;
}

/** Adds a beat: seconds from the window's end (negative, ascending), seconds since the previous beat, width in s; what is unknown is NaN. */
export function addBeat(time: f32, interval: f32, height: f32, baseline: f32, width: f32, kind: i32): void {
  if (BEATS.count >= MAX_BEATS) return;
  const i = BEATS.count++;
  TIME[i] = time;
  INTERVAL[i] = interval;
  HEIGHT[i] = height;
  BASELINE[i] = baseline;
  WIDTH[i] = width;
  KIND[i] = kind;
}

/**
 * Checks the added beats, and completes BEATS; returns the number of points of the series (even, at most POINTS), 0 for too
 * few beats.
 */
export function judgeBeats(): i32 {
  const count = BEATS.count;
  if (count < FEWEST_BEATS) return 0;
  BEATS.medianInterval = medianOfAll(count);
  BEATS.meanHeight = meanOf(HEIGHT, count);
  BEATS.meanWidth = meanOf(WIDTH, count);
  findUsual(count);
  let regular = 0;
  let clean = 0;
  for (let i = 0; i < count; i++) {
    const steady = abs(INTERVAL[i] - USUAL[i]) <= REGULAR * USUAL[i];
    const after = i === 0 || STEADY[i - 1];
    const credible = abs(HEIGHT[i] - BEATS.meanHeight) < CREDIBLE * BEATS.meanHeight;
    regular += <i32>steady;
    STEADY[i] = steady;
    CLEAN[i] = steady && after && credible;
    clean += <i32>CLEAN[i];
  }
  BEATS.steadiness = min<f32>(1, (STEADY_SHARE * <f32>regular) / <f32>count);
  const misleads = BEATS.medianInterval > LONGEST_SAMPLING || isCyclic(count) || isRepeated(count);
  BEATS.trust = misleads ? 0 : trustOf(<f32>clean / <f32>count);
  const span = <i32>(-TIME[0] * <f32>SERIES_HZ);
  return BEATS.medianInterval > 0 ? max(0, min(POINTS, span & ~1)) : 0;
}

/**
 * Probability that the beats of a window are beats, by the share of the clean ones. The tracker remembers the breath for minutes, also
 * where a sensor has left the skin; but what is found in its noise has intervals and heights that differ from one to the next.
 */
function trustOf(clean: f32): f32 {
  return max<f32>(0, min<f32>(1, (clean - NO_BEATS) / (TRUE_BEATS - NO_BEATS)));
}

/**
 * Whether the irregular beats come after equal numbers of beats, as premature beats after every third normal one, or pauses in a block of
 * every fifth beat. Then the rhythm itself swings all series, and looks like a breath of that period, its half or its double.
 */
function isCyclic(count: i32): bool {
  let last = -1;
  let before = 0;
  let cycles = 0;
  let equal = 0;
  for (let i = 1; i < count; i++) {
    if (STEADY[i] || !STEADY[i - 1]) continue;
    if (last >= 0) {
      const beats = i - last;
      equal += <i32>(beats === before && beats <= LONGEST_CYCLE);
      before = beats;
      cycles++;
    }
    last = i;
  }
  return cycles >= FEWEST_CYCLES && <f32>equal >= CYCLIC * <f32>(cycles - 1);
}

/**
 * Whether the heights differ more than breath makes them, and are the same again some beats later. In bigeminy the long beat can show its
 * second wave as a pulse of its own: three pulses of even intervals, but not heights, that look like a breath of three.
 */
function isRepeated(count: i32): bool {
  const next = meanChange(1, count);
  const least = REPEATED * min(next, meanChange(2, count));
  if (!(next > CREDIBLE * BEATS.meanHeight)) return false;
  for (let beats = 3; beats <= LONGEST_CYCLE; beats++) if (meanChange(beats, count) < least) return true;
  return false;
}

/** Mean difference of the known heights that are so many beats apart. */
function meanChange(beats: i32, count: i32): f32 {
  let sum: f32 = 0;
  let known: f32 = 0;
  for (let i = beats; i < count; i++) {
    const change = abs(HEIGHT[i] - HEIGHT[i - beats]);
    if (isNaN(change)) continue;
    sum += change;
    known++;
  }
  return sum / known;
}

/** Mean of the known values: that of a beat at a gap may be unknown, and must not take those of all others with it. */
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

/** Writes USUAL: four at a time if all seven neighbours exist and are known. */
function findUsual(count: i32): void {
  for (let i = 0; i < count; i += 4) {
    const inside = i >= NEIGHBOURS && i + 3 + NEIGHBOURS < count;
    if (inside && sortSevens(INTERVAL.at(i - NEIGHBOURS))) v128.store(USUAL.at(i), SORT[NEIGHBOURS]);
    else for (let j = i; j < min(i + 4, count); j++) USUAL[j] = medianAbout(j, count);
  }
}

/**
 * Sorts seven values from `x` on, and from the next three each, far enough that the middle one is in place (Devillard,
 * "Fast median search", 1998); false if one is unknown.
 */
function sortSevens(x: usize): bool {
  let sum = f32x4.splat(0);
  for (let k = 0; k < 7; k++) {
    const v = v128.load(x + ((<usize>k) << 2));
    sum = f32x4.add(sum, v);
    SORT[k] = v;
  }
  order(0, 5);
  order(0, 3);
  order(1, 6);
  order(2, 4);
  order(0, 1);
  order(3, 5);
  order(2, 6);
  order(2, 3);
  order(3, 6);
  order(4, 5);
  order(1, 4);
  order(1, 3);
  order(3, 4);
  return i32x4.all_true(f32x4.eq(sum, sum));
}

function order(low: i32, high: i32): void {
  const a = SORT[low];
  const b = SORT[high];
  SORT[low] = f32x4.pmin(a, b);
  SORT[high] = f32x4.pmax(a, b);
}

/** Median of all known intervals, found by its rank; NaN if none is known. */
function medianOfAll(count: i32): f32 {
  v128.store(INTERVAL.at(count), f32x4.splat(NaN));
  let known = 0;
  for (let i = 0; i < count; i++) known += <i32>!isNaN(INTERVAL[i]);
  for (let i = 0; i < count; i++) {
    const x = v128.load32_splat(INTERVAL.at(i));
    let below = i32x4.splat(0);
    let upTo = below;
    for (let j = 0; j < count; j += 4) {
      const v = v128.load(INTERVAL.at(j));
      below = i32x4.sub(below, f32x4.lt(v, x)); // true is -1
      upTo = i32x4.sub(upTo, f32x4.le(v, x));
    }
    if (sumOf(below) <= known >> 1 && known >> 1 < sumOf(upTo)) return INTERVAL[i];
  }
  return NaN;
}

function sumOf(x: v128): i32 {
  const pairs = i32x4.add(x, v128.shuffle<i32>(x, x, 2, 3, 0, 1));
  return i32x4.extract_lane(pairs, 0) + i32x4.extract_lane(pairs, 1);
}

/** Median of the known intervals up to NEIGHBOURS beats before and after beat i; NaN where none is known. */
function medianAbout(i: i32, count: i32): f32 {
  const first = max(0, i - NEIGHBOURS);
  const last = min(count - 1, i + NEIGHBOURS);
  let known = 0;
  for (let j = first; j <= last; j++) if (!isNaN(INTERVAL[j])) insert(INTERVAL[j], known++);
  return known ? KEPT[known >> 1] : NaN;
}

/** Puts x into its place among the first `count` of KEPT. */
function insert(x: f32, count: i32): void {
  let at = count;
  for (; at > 0 && KEPT[at - 1] > x; at--) KEPT[at] = KEPT[at - 1];
  KEPT[at] = x;
}

/** Intervals in parts of the median one, as `n` points that end at the window's end, into that lane. */
export function putIntervals(lane: i32, n: i32): void {
  put(lane, n, INTERVAL, STEADY, BEATS.medianInterval);
}

/** Heights in parts of their mean. */
export function putHeights(lane: i32, n: i32): void {
  put(lane, n, HEIGHT, CLEAN, BEATS.meanHeight);
}

/** Baselines in parts of the mean height, of the clean beats. */
export function putCleanBaselines(lane: i32, n: i32): void {
  put(lane, n, BASELINE, CLEAN, BEATS.meanHeight);
}

/** The same of all regular beats: a mean over a second hardly depends on the height of the pulse in it. */
export function putSteadyBaselines(lane: i32, n: i32): void {
  put(lane, n, BASELINE, STEADY, BEATS.meanHeight);
}

/** Widths in parts of their mean. */
export function putWidths(lane: i32, n: i32): void {
  put(lane, n, WIDTH, STEADY, BEATS.meanWidth);
}

function put(lane: i32, n: i32, values: Row<f32>, good: Row<bool>, unit: f32): void {
  let kept = keep(values, good);
  if (kept < FEWEST_GOOD) kept = keep(values, null);
  const scale = <f32>1 / unit;
  for (let i = 0; i < kept; i++) KEPT[i] *= scale;
  if (kept) interpolate(lane, n, kept);
}

/** Collects the known and good values (all known ones if `good` is null) with their times; returns their number. */
function keep(values: Row<f32>, good: Row<bool> | null): i32 {
  let kept = 0;
  for (let i = 0; i < BEATS.count; i++) {
    if (isNaN(values[i]) || (good && !good[i])) continue;
    KEPT_TIME[kept] = TIME[i];
    KEPT[kept] = values[i];
    kept++;
  }
  return kept;
}

/** Joins the kept values by lines, held at the ends, and samples them in the middle of each 1/SERIES_HZ. */
function interpolate(lane: i32, n: i32, kept: i32): void {
  const series = laneOf(lane);
  let i = 0;
  let t0: f32 = -Infinity;
  let a = KEPT[0];
  let t = timeOf(0, n);
  for (let k = 0; k < kept; k++) {
    const t1 = KEPT_TIME[k];
    const b = KEPT[k];
    const slope = (b - a) / (t1 - t0);
    while (i < n && t <= t1) {
      series[4 * i] = b - slope * (t1 - t);
      t = timeOf(++i, n);
    }
    t0 = t1;
    a = b;
  }
  for (; i < n; i++) series[4 * i] = a;
}

function timeOf(i: i32, n: i32): f32 {
  return (<f32>(i - n) + 0.5) * <f32>(1 / SERIES_HZ);
}
