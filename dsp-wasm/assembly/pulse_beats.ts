import { GRID_PER_MINUTE } from './pulse_tracker';
import { HELD, LEAST_HELD, LIGHTS, ONE, PEAKS, SLOPES, WINDOW } from './pulse_window';

/**
 * Beats of the window in the time domain: the steepest slopes of each light, after a smoothing that is matched to the rate
 * (derivative of a Gaussian, as in Canny's matched edge detector), at most one per 0.6 periods. The rate out of whole
 * beats follows a changing rhythm within the window where a spectral line cannot.
 */

/** Width of the Gaussian, in periods: passes the pulse's first two harmonics. */
const WIDTH: f32 = 0.14;
/** Closest distance of two beats, in periods. */
const SPACING: f32 = 0.6;
const MAX_PEAKS: i32 = 128;

/** Irregularity of the best light's beats: variation of intervals plus that of slopes; large where there are none. */
export let beatSpread: f32 = 0;
/** Its intervals' coefficient of variation, and how many there are. */
export let beatVariation: f32 = 0;
export let beatCount: i32 = 0;

/** Rate in bpm out of the beats of the most regular light around `bpm`; `bpm` itself where none has two intervals. */
export function beatRate(bpm: f32): f32 {
  smoothSlopes(bpm);
  beatSpread = 1e9;
  beatVariation = 1e9;
  beatCount = 0;
  let rate = bpm;
  for (let lane = 0; lane < 4; lane++) {
    if (load<i32>(HELD + (<usize>lane << 2)) < LEAST_HELD) continue;
    const up = laneRate(lane, 1, bpm);
    if (up > 0) rate = up;
    const down = laneRate(lane, -1, bpm);
    if (down > 0) rate = down;
  }
  return rate;
}

/** Derivative-of-Gaussian over all lanes; the window's ends are continued by their outermost values. */
function smoothSlopes(bpm: f32): void {
  const sigma = (WIDTH * GRID_PER_MINUTE) / bpm;
  const reach = min(30, <i32>Mathf.ceil(2.5 * sigma));
  for (let j = 1; j <= reach; j++) {
    const u = <f32>j / sigma;
    store<f32>(ONE + (<usize>j << 2), <f32>j * Mathf.exp(-0.5 * u * u));
  }
  for (let i = 0; i < WINDOW; i++) {
    let sum = f32x4.splat(0);
    for (let j = 1; j <= reach; j++) {
      const after = v128.load(LIGHTS + (<usize>min(WINDOW - 1, i + j) << 4));
      const before = v128.load(LIGHTS + (<usize>max(0, i - j) << 4));
      sum = f32x4.add(sum, f32x4.mul(f32x4.sub(after, before), v128.load32_splat(ONE + (<usize>j << 2))));
    }
    v128.store(SLOPES + (<usize>i << 4), sum);
  }
}

/** Rate from one light and direction of slope where it is the most regular so far, else 0. */
function laneRate(lane: i32, sign: f32, bpm: f32): f32 {
  const period = GRID_PER_MINUTE / bpm;
  const peaks = findPeaks(SLOPES + (<usize>lane << 2), sign, SPACING * period);
  let intervals = 0;
  let sum: f32 = 0;
  let squares: f32 = 0;
  for (let i = 1; i < peaks; i++) {
    const interval = peakTime(i) - peakTime(i - 1);
    if (interval < SPACING * period || interval > 1.6 * period) continue;
    intervals++;
    sum += interval;
    squares += interval * interval;
  }
  if (intervals < 2) return 0;
  const mean = sum / <f32>intervals;
  const variation = Mathf.sqrt(max<f32>(0, squares / <f32>intervals - mean * mean)) / mean;
  const spread = variation + heightVariation(peaks);
  if (!(spread < beatSpread)) return 0;
  beatSpread = spread;
  beatVariation = variation;
  beatCount = intervals;
  return GRID_PER_MINUTE / mean;
}

function heightVariation(peaks: i32): f32 {
  let sum: f32 = 0;
  let squares: f32 = 0;
  for (let i = 0; i < peaks; i++) {
    const height = peakHeight(i);
    sum += height;
    squares += height * height;
  }
  const mean = sum / <f32>peaks;
  return Mathf.sqrt(max<f32>(0, squares / <f32>peaks - mean * mean)) / mean;
}

// @ts-ignore: decorator
@inline
function peakTime(i: i32): f32 {
  return load<f32>(PEAKS + (<usize>i << 3));
}

// @ts-ignore: decorator
@inline
function peakHeight(i: i32): f32 {
  return load<f32>(PEAKS + (<usize>i << 3), 4);
}

function putPeak(i: i32, time: f32, height: f32): void {
  store<f32>(PEAKS + (<usize>i << 3), time);
  store<f32>(PEAKS + (<usize>i << 3), height, 4);
}

/** Local maxima of sign * y above zero, of two closer than `spacing` the higher one; returns how many. */
function findPeaks(y: usize, sign: f32, spacing: f32): i32 {
  let count = 0;
  let a = sign * load<f32>(y);
  let b = sign * load<f32>(y, 16);
  for (let i = 2; i < WINDOW; i++) {
    const c = sign * load<f32>(y + (<usize>i << 4));
    if (b > 0 && b >= a && b > c) {
      const time = <f32>(i - 1) + (0.5 * (a - c)) / (a - 2 * b + c);
      count = addPeak(count, time, b, spacing);
    }
    a = b;
    b = c;
  }
  return count;
}

/** Appends a peak, or lets it and its neighbour fight where they are too close. */
function addPeak(count: i32, time: f32, height: f32, spacing: f32): i32 {
  if (count > 0 && time - peakTime(count - 1) < spacing) {
    if (height > peakHeight(count - 1)) putPeak(count - 1, time, height);
    return count;
  }
  if (count == MAX_PEAKS) return count;
  putPeak(count, time, height);
  return count + 1;
}
