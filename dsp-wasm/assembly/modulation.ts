import { POINTS } from './breath_spectrum';
import { SCRATCH } from './layout';

/**
 * What breathing does to the beats, as series of 4 Hz: their intervals (respiratory sinus arrhythmia, frequency
 * modulation), heights (amplitude modulation) and baselines (Charlton et al., Physiol. Meas. 37:610, 2016). A beat
 * that comes too early or too late tells of the heart, not of breathing: it and the one after it, which is larger for
 * the longer pause, are left out.
 */

/** Rate of the series, Hz: holds all rates that beats can carry. */
export const SERIES_HZ: f64 = 4;
/** Most beats in a window: 32 s at 225 bpm. */
export const MOST_BEATS: i32 = 120;
const FEWEST_BEATS: i32 = 8;
/** Beats that a series should have left; with fewer, the irregular ones count too. */
const FEWEST_GOOD: i32 = 6;
/**
 * An interval is regular within 20 % of the median of the seven about it (as for NN intervals in heart rate
 * variability).
 */
const REGULAR: f32 = 0.2;
const NEIGHBOURS: i32 = 3;
/** A height is credible within 50 % of their mean. */
const CREDIBLE: f32 = 0.5;

// Scratch, after the rows of pulses.ts. Rows of MOST_BEATS f32: time from the window's end (s, negative), interval, ...
const BEATS: usize = SCRATCH + 0x8000;
const ROW: usize = 0x200;
const TIME: usize = BEATS;
const INTERVAL: usize = BEATS + ROW;
const HEIGHT: usize = BEATS + 2 * ROW;
const BASELINE: usize = BEATS + 3 * ROW;
const STEADY: usize = BEATS + 4 * ROW; // i32, the interval is regular
const CLEAN: usize = BEATS + 5 * ROW; // i32, and so is the one before, and the height is credible
const KEPT_TIME: usize = BEATS + 6 * ROW;
const KEPT: usize = BEATS + 7 * ROW;
const USUAL: usize = BEATS + 8 * ROW; // median of the intervals about each
const SORT: usize = BEATS + 10 * ROW; // 7 x four lanes
/** Four series side by side, one in each lane. */
export const SERIES: usize = SCRATCH + 0xa000;

/** Median interval of the window's beats, s; set by `judgeBeats`. */
export let medianInterval: f32 = 0;
/** How far the beats carry the series, set by `judgeBeats`: wholly where two of three have a regular interval. */
export let steadiness: f32 = 0;
let beats: i32 = 0;
/** Mean height of the window's beats, set by `judgeBeats`. */
export let meanBeat: f32 = 0;

/** Forgets the beats of the window before. */
export function clearBeats(): void {
  beats = 0;
}

/** Adds a beat: seconds from the window's end (negative, ascending), seconds since the beat before (NaN: unknown). */
export function addBeat(time: f32, interval: f32, height: f32, baseline: f32): void {
  if (beats >= MOST_BEATS) return;
  const at = <usize>beats << 2;
  store<f32>(TIME + at, time);
  store<f32>(INTERVAL + at, interval);
  store<f32>(HEIGHT + at, height);
  store<f32>(BASELINE + at, baseline);
  beats++;
}

/**
 * Judges the beats that were added; returns how many points (even, at most POINTS) the series will have, 0 for too
 * few beats.
 */
export function judgeBeats(): i32 {
  if (beats < FEWEST_BEATS) return 0;
  medianInterval = medianOfAll();
  meanBeat = meanHeight();
  findUsual();
  let regular = 0;
  for (let i = 0; i < beats; i++) {
    const at = <usize>i << 2;
    const usual = load<f32>(USUAL + at);
    const steady = abs(load<f32>(INTERVAL + at) - usual) <= REGULAR * usual;
    const after = i == 0 || load<i32>(STEADY + at - 4);
    const credible = abs(load<f32>(HEIGHT + at) - meanBeat) < CREDIBLE * meanBeat;
    regular += <i32>steady;
    store<i32>(STEADY + at, <i32>steady);
    store<i32>(CLEAN + at, <i32>(steady && after && credible));
  }
  steadiness = min<f32>(1, (<f32>1.5 * <f32>regular) / <f32>beats);
  const span = -load<f32>(TIME) * <f32>SERIES_HZ;
  return medianInterval > 0 ? min(POINTS, <i32>span & ~1) : 0;
}

function meanHeight(): f32 {
  let sum: f32 = 0;
  for (let i: usize = 0; i < <usize>beats << 2; i += 4) sum += load<f32>(HEIGHT + i);
  return sum / <f32>beats;
}

/** Writes USUAL: four at a time where all seven neighbours are there and known. */
function findUsual(): void {
  for (let i = 0; i < beats; i += 4) {
    const inside = i >= NEIGHBOURS && i + 3 + NEIGHBOURS < beats;
    if (inside && mediansOfSeven(INTERVAL + (<usize>(i - NEIGHBOURS) << 2))) v128.store(USUAL + (<usize>i << 2), v128.load(SORT, 48));
    else for (let j = i; j < min(i + 4, beats); j++) store<f32>(USUAL + (<usize>j << 2), medianAbout(j));
  }
}

/**
 * Sorts seven values from `x` on, and from the next three each, far enough that the middle one is in place (Devillard,
 * "Fast median search", 1998); false where one is unknown.
 */
function mediansOfSeven(x: usize): bool {
  let sum = f32x4.splat(0);
  for (let k: usize = 0; k < 7; k++) {
    const v = v128.load(x + (k << 2));
    sum = f32x4.add(sum, v);
    v128.store(SORT + (k << 4), v);
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

// @ts-ignore: decorator
@inline
function order(low: usize, high: usize): void {
  const a = v128.load(SORT + (low << 4));
  const b = v128.load(SORT + (high << 4));
  v128.store(SORT + (low << 4), f32x4.pmin(a, b));
  v128.store(SORT + (high << 4), f32x4.pmax(a, b));
}

/** Median of all known intervals, NaN where none is known: the one of which as many are below as its rank says. */
function medianOfAll(): f32 {
  const end = <usize>beats << 2;
  v128.store(end, f32x4.splat(NaN), INTERVAL);
  let known = 0;
  for (let i: usize = 0; i < end; i += 4) known += <i32>!isNaN(load<f32>(i, INTERVAL));
  for (let i: usize = 0; i < end; i += 4) {
    const x = v128.load32_splat(i, INTERVAL);
    let below = i32x4.splat(0);
    let upTo = below;
    for (let j: usize = 0; j < end; j += 16) {
      const v = v128.load(j, INTERVAL);
      below = i32x4.sub(below, f32x4.lt(v, x)); // true is -1
      upTo = i32x4.sub(upTo, f32x4.le(v, x));
    }
    if (sumOf(below) <= known >> 1 && known >> 1 < sumOf(upTo)) return f32x4.extract_lane(x, 0);
  }
  return NaN;
}

// @ts-ignore: decorator
@inline
function sumOf(x: v128): i32 {
  const pairs = i32x4.add(x, v128.shuffle<i32>(x, x, 2, 3, 0, 1));
  return i32x4.extract_lane(pairs, 0) + i32x4.extract_lane(pairs, 1);
}

/** Median of the known intervals up to NEIGHBOURS beats before and after beat i; NaN where none is known. */
function medianAbout(i: i32): f32 {
  const first = max(0, i - NEIGHBOURS);
  const last = min(beats - 1, i + NEIGHBOURS);
  let known = 0;
  for (let j = first; j <= last; j++) {
    const x = load<f32>(INTERVAL + (<usize>j << 2));
    if (x == x) insert(x, known++);
  }
  return known ? load<f32>(KEPT + (<usize>(known >> 1) << 2)) : NaN;
}

/** Puts x into its place among the first `count` of KEPT. */
// @ts-ignore: decorator
@inline
function insert(x: f32, count: i32): void {
  let at = KEPT + (<usize>count << 2);
  while (at > KEPT && load<f32>(at - 4) > x) {
    store<f32>(at, load<f32>(at - 4));
    at -= 4;
  }
  store<f32>(at, x);
}

/** Empties the first `n` points of all four series. */
export function clearSeries(n: i32): void {
  memory.fill(SERIES, 0, <usize>n << 4);
}

/** Intervals in parts of the median one, as `n` points that end at the window's end, into that lane. */
export function putIntervals(lane: i32, n: i32): void {
  put(lane, n, INTERVAL, STEADY, medianInterval);
}

/** Heights in parts of their mean. */
export function putHeights(lane: i32, n: i32): void {
  put(lane, n, HEIGHT, CLEAN, meanBeat);
}

/** Baselines in parts of the mean height. */
export function putBaselines(lane: i32, n: i32): void {
  put(lane, n, BASELINE, CLEAN, meanBeat);
}

function put(lane: i32, n: i32, values: usize, good: usize, unit: f32): void {
  let kept = keep(values, good);
  if (kept < FEWEST_GOOD) kept = keep(values, 0);
  scaleKept(kept, <f32>1 / unit);
  if (kept) interpolate(SERIES + (<usize>lane << 2), n, kept);
}

/** Gathers the values that are known and good (all, where `good` is 0) with their times; returns how many. */
function keep(values: usize, good: usize): i32 {
  let kept: usize = 0;
  for (let i: usize = 0; i < <usize>beats << 2; i += 4) {
    const x = load<f32>(values + i);
    if (x != x || (good && !load<i32>(good + i))) continue;
    store<f32>(KEPT_TIME + kept, load<f32>(TIME + i));
    store<f32>(KEPT + kept, x);
    kept += 4;
  }
  return <i32>(kept >> 2);
}

function scaleKept(kept: i32, scale: f32): void {
  for (let i: usize = 0; i < <usize>kept << 2; i += 4) store<f32>(KEPT + i, load<f32>(KEPT + i) * scale);
}

/** Joins the kept values by lines, held at the ends, and samples them in the middle of each 1/SERIES_HZ. */
function interpolate(lane: usize, n: i32, kept: i32): void {
  let i = 0;
  let t0: f32 = -Infinity;
  let a = load<f32>(KEPT);
  let t = timeOf(0, n);
  for (let k: usize = 0; k < <usize>kept << 2; k += 4) {
    const t1 = load<f32>(KEPT_TIME + k);
    const b = load<f32>(KEPT + k);
    const slope = (b - a) / (t1 - t0);
    while (i < n && t <= t1) {
      store<f32>(lane + (<usize>i << 4), b - slope * (t1 - t));
      t = timeOf(++i, n);
    }
    t0 = t1;
    a = b;
  }
  for (; i < n; i++) store<f32>(lane + (<usize>i << 4), a);
}

// @ts-ignore: decorator
@inline
function timeOf(i: i32, n: i32): f32 {
  return (<f32>(i - n) + 0.5) * <f32>(1 / SERIES_HZ);
}
