import {
  FFT_IN,
  fillMargins,
  HELD,
  KERNEL,
  LEAST_HELD,
  LIGHTS,
  MARGIN,
  PEAKS,
  SLOPES,
  TEMPLATE,
  TRAINS,
  WAVES,
  WINDOW,
} from './pulse_window';
import { clearVectors, sumLanes } from './window';
import { GRID_PER_MINUTE } from './pulse_tracker';

/**
 * Beats of the window in the time domain: the steepest slopes of each light, after a smoothing that is matched to the rate
 * (the derivative of a Gaussian: Canny 1986), at most one per 0.6 periods. The rate out of whole beats follows a rhythm
 * that changes within the window, where a spectral line cannot.
 */

/** Width of the Gaussian, in periods: passes the pulse's fundamental, and a fifth as much of its second harmonic. */
const WIDTH: f32 = 0.21;
/** Shortest and longest interval that counts, in periods; of two beats that are closer, the steeper one stays. */
const SHORTEST: f32 = 0.6;
const LONGEST: f32 = 1.6;
/** Added to the spread before it becomes a weight: the timing error of a perfect light on this grid. */
const LEAST_SPREAD: f32 = 0.02;
/** Smallest slope of a beat, against the window's steepest: where data are missing only rounding errors have slopes. */
const LEAST_SLOPE: f32 = 0.05;
const MAX_PEAKS: i32 = 64;

/** Irregularity of the best light's beats, variation of the intervals plus that of the slopes; 1e9 where there are none. */
export let beatSpread: f32 = 0;
/** Share of the beats that the window has room for at this rate which the best light shows. */
export let beatCover: f32 = 0;
let bestTrain: i32 = 0;

/** Rate in bpm from the beats of all lights, the more regular ones weighing more; 0 where none has two intervals. */
export function beatRate(bpm: f32): f32 {
  smoothSlopes(bpm);
  findTrains(SHORTEST * (GRID_PER_MINUTE / bpm));
  beatSpread = 1e9;
  beatCover = 0;
  let weights: f32 = 0;
  let sum: f32 = 0;
  for (let train = 0; train < 8; train++) {
    if (load<i32>(HELD + (<usize>(train & 3) << 2)) < LEAST_HELD) continue;
    const rate = trainRate(train, GRID_PER_MINUTE / bpm);
    if (rate == 0) continue;
    const weight = <f32>1 / ((trainSpread + LEAST_SPREAD) * (trainSpread + LEAST_SPREAD));
    weights += weight;
    sum += weight * rate;
    if (trainSpread < beatSpread) {
      beatSpread = trainSpread;
      bestTrain = train;
      beatCover = trainIntervals;
    }
  }
  beatCover /= room(GRID_PER_MINUTE / bpm);
  return weights > 0 ? sum / weights : 0;
}

/** Intervals of `period` cells that fit into the fullest light, one at least: ends of the window cut one off. */
function room(period: f32): f32 {
  let held = 0;
  for (let lane: usize = 0; lane < 16; lane += 4) held = max(held, load<i32>(HELD + lane));
  return max<f32>(1, <f32>held / period - <f32>1);
}

/** Cells from one slope to the next. */
let stride: i32 = 1;
/**
 * Deviation of the Gaussian, in cells, from which slopes lie two cells apart: it passes nothing near their Nyquist
 * frequency of 8 Hz then (1e-8 of it), and of the noise about 14 Hz, which falls on the pulse, a pair's sum leaves a fifth.
 */
const WIDE: f32 = 4;
/** Sums of two cells each, WINDOW / 2 and margins. */
const PAIRS: usize = FFT_IN + <usize>MARGIN * 16;

/** Derivative of a Gaussian over all lanes; the kernel is odd, so that two cells share a coefficient. */
function smoothSlopes(bpm: f32): void {
  const wide = (WIDTH * GRID_PER_MINUTE) / bpm;
  stride = wide < WIDE ? 1 : 2;
  const sigma = wide / <f32>stride;
  const reach = min(MARGIN / stride, <i32>ceil<f32>(2.5 * sigma));
  for (let j = 1; j <= reach; j++) {
    const u = <f32>j / sigma;
    store<f32>(KERNEL + (<usize>(j - 1) << 2), u * Mathf.exp(-0.5 * u * u));
  }
  fillMargins();
  const from = stride == 1 ? LIGHTS : sumPairs();
  for (let i: usize = 0; i < <usize>(WINDOW / stride); i += 8) smoothEight(from + (i << 4), SLOPES + (i << 4), reach);
}

function sumPairs(): usize {
  for (let i = -MARGIN / 2; i < (WINDOW + MARGIN) / 2; i++) {
    const two = LIGHTS + (<usize>i << 5);
    v128.store(PAIRS + (<usize>i << 4), f32x4.add(v128.load(two), v128.load(two, 16)));
  }
  return PAIRS;
}

/** Eight cells at once, as many as sums fit into registers: a coefficient is loaded once for all. */
function smoothEight(x: usize, y: usize, reach: i32): void {
  let a = f32x4.splat(0);
  let b = a;
  let c = a;
  let d = a;
  let e = a;
  let f = a;
  let g = a;
  let h = a;
  let after = x + 16;
  let before = x - 16;
  for (let w = KERNEL; w < KERNEL + (<usize>reach << 2); w += 4) {
    const weight = v128.load32_splat(w);
    a = f32x4.add(a, f32x4.mul(f32x4.sub(v128.load(after), v128.load(before)), weight));
    b = f32x4.add(b, f32x4.mul(f32x4.sub(v128.load(after, 16), v128.load(before, 16)), weight));
    c = f32x4.add(c, f32x4.mul(f32x4.sub(v128.load(after, 32), v128.load(before, 32)), weight));
    d = f32x4.add(d, f32x4.mul(f32x4.sub(v128.load(after, 48), v128.load(before, 48)), weight));
    e = f32x4.add(e, f32x4.mul(f32x4.sub(v128.load(after, 64), v128.load(before, 64)), weight));
    f = f32x4.add(f, f32x4.mul(f32x4.sub(v128.load(after, 80), v128.load(before, 80)), weight));
    g = f32x4.add(g, f32x4.mul(f32x4.sub(v128.load(after, 96), v128.load(before, 96)), weight));
    h = f32x4.add(h, f32x4.mul(f32x4.sub(v128.load(after, 112), v128.load(before, 112)), weight));
    after += 16;
    before -= 16;
  }
  v128.store(y, a);
  v128.store(y, b, 16);
  v128.store(y, c, 32);
  v128.store(y, d, 48);
  v128.store(y, e, 64);
  v128.store(y, f, 80);
  v128.store(y, g, 96);
  v128.store(y, h, 112);
}

/** Peaks of the rising slopes (trains 0 to 3, by light) and of the falling ones (4 to 7). */
function findTrains(spacing: f32): void {
  clearVectors(TRAINS, 2);
  const least = f32x4.mul(steepest(), f32x4.splat(LEAST_SLOPE));
  const most = f32x4.neg(least);
  let a = v128.load(SLOPES);
  let b = v128.load(SLOPES, 16);
  for (let i = 2; i < WINDOW / stride; i++) {
    const c = v128.load(SLOPES + (<usize>i << 4));
    const up = v128.and(f32x4.gt(b, least), v128.and(f32x4.ge(b, a), f32x4.gt(b, c)));
    const down = v128.and(f32x4.lt(b, most), v128.and(f32x4.le(b, a), f32x4.lt(b, c)));
    if (v128.any_true(v128.or(up, down))) addPeaks(i, i32x4.bitmask(up) | (i32x4.bitmask(down) << 4), spacing);
    a = b;
    b = c;
  }
}

/** Largest slope of each lane, either way. */
function steepest(): v128 {
  let most = f32x4.splat(0);
  for (let i: usize = 0; i < <usize>(WINDOW / stride) << 4; i += 16) most = f32x4.pmax(most, f32x4.abs(v128.load(SLOPES + i)));
  return most;
}

/** Adds the peaks of cell i - 1 to the trains of `mask`. */
function addPeaks(i: i32, mask: i32, spacing: f32): void {
  while (mask) {
    const train = ctz(mask);
    mask &= mask - 1;
    const y = SLOPES + (<usize>i << 4) + (<usize>(train & 3) << 2);
    const a = load<f32>(y - 32);
    const b = load<f32>(y - 16);
    const c = load<f32>(y);
    const at = <f32>(i - 1) + (<f32>0.5 * (a - c)) / (a - b - b + c);
    addPeak(train, <f32>stride * at + <f32>0.5 * <f32>(stride - 1), abs<f32>(b), spacing);
  }
}

/** Appends a peak to its train; of two that are too close the steeper one stays. */
function addPeak(train: i32, time: f32, height: f32, spacing: f32): void {
  const count = load<i32>(TRAINS + (<usize>train << 2));
  if (count > 0 && time - peakTime(train, count - 1) < spacing) {
    if (height > peakHeight(train, count - 1)) putPeak(train, count - 1, time, height);
  } else if (count < MAX_PEAKS) {
    putPeak(train, count, time, height);
    store<i32>(TRAINS + (<usize>train << 2), count + 1);
  }
}

// @ts-ignore: decorator
@inline
function peakAt(train: i32, i: i32): usize {
  return PEAKS + (<usize>(train * MAX_PEAKS + i) << 3);
}

// @ts-ignore: decorator
@inline
function peakTime(train: i32, i: i32): f32 {
  return load<f32>(peakAt(train, i));
}

// @ts-ignore: decorator
@inline
function peakHeight(train: i32, i: i32): f32 {
  return load<f32>(peakAt(train, i), 4);
}

function putPeak(train: i32, i: i32, time: f32, height: f32): void {
  store<f32>(peakAt(train, i), time);
  store<f32>(peakAt(train, i), height, 4);
}

let trainSpread: f32 = 0;
let trainIntervals: f32 = 0;

/**
 * Rate from one train, its trainSpread and trainIntervals; 0 where it has no two intervals of about `period` cells. The mean interval
 * hangs on the first and the last beat, a least-squares line through the beats on those in between: it is the mean of both.
 */
function trainRate(train: i32, period: f32): f32 {
  const peaks = load<i32>(TRAINS + (<usize>train << 2));
  let intervals: f32 = 0;
  let sum: f32 = 0;
  let squares: f32 = 0;
  for (let i = 1; i < peaks; i++) {
    const interval = peakTime(train, i) - peakTime(train, i - 1);
    if (interval > LONGEST * period) continue;
    intervals++;
    sum += interval;
    squares += interval * interval;
  }
  if (intervals < 2) return 0;
  trainIntervals = intervals;
  trainSpread = variation(intervals, sum, squares) + heightVariation(train, peaks);
  return <f32>0.5 * GRID_PER_MINUTE * (intervals / sum + beatsPerCell(train, peaks, period));
}

/** Slope of the least-squares line of the beats' numbers over their times; a long interval counts for as many as it holds. */
function beatsPerCell(train: i32, peaks: i32, period: f32): f32 {
  const first = peakTime(train, 0);
  let number: f32 = 0;
  let numbers: f32 = 0;
  let times: f32 = 0;
  let squares: f32 = 0;
  let products: f32 = 0;
  for (let i = 1; i < peaks; i++) {
    const interval = peakTime(train, i) - peakTime(train, i - 1);
    number += interval > LONGEST * period ? nearest<f32>(interval / period) : 1;
    const time = peakTime(train, i) - first;
    numbers += number;
    times += time;
    squares += time * time;
    products += time * number;
  }
  const n = <f32>peaks;
  return (n * products - times * numbers) / (n * squares - times * times);
}

function heightVariation(train: i32, peaks: i32): f32 {
  let sum: f32 = 0;
  let squares: f32 = 0;
  for (let i = 0; i < peaks; i++) {
    const height = peakHeight(train, i);
    sum += height;
    squares += height * height;
  }
  return variation(<f32>peaks, sum, squares);
}

/** Standard deviation over mean. */
function variation(count: f32, sum: f32, squares: f32): f32 {
  return sqrt<f32>(max<f32>(0, squares * count - sum * sum)) / max<f32>(sum, 1e-30);
}

/**
 * How alike the best light's beats are: the mean correlation of each beat's wave, one period around its slope, with the
 * sum of the others (after Orphanidou et al., "Signal-quality indices for the electrocardiogram and photoplethysmogram",
 * IEEE JBHI 2015). 0 where there are not three whole beats.
 */
export function beatLikeness(bpm: f32): f32 {
  if (beatSpread >= 1e9) return 0;
  const length = min(64, <i32>(GRID_PER_MINUTE / bpm));
  const peaks = load<i32>(TRAINS + (<usize>bestTrain << 2));
  clearVectors(TEMPLATE, 16);
  let whole = 0;
  for (let i = 0; i < peaks; i++) {
    if (loadWave(WAVES + (<usize>whole << 8), i, length)) whole++;
  }
  if (whole < 3) return 0;
  let sum: f32 = 0;
  for (let i = 0; i < whole; i++) sum += fit(WAVES + (<usize>i << 8), length);
  return sum / <f32>whole;
}

/** Adds one beat's wave, mean off and scaled to unit length, to the template; false where the window cuts it off. */
function loadWave(to: usize, i: i32, length: i32): bool {
  const from = <i32>(peakTime(bestTrain, i) + 0.5) - (length >> 1);
  if (from < 0 || from + length > WINDOW) return false;
  const light = LIGHTS + (<usize>from << 4) + (<usize>(bestTrain & 3) << 2);
  const mean = copyWave(light, to, length);
  let squares = f32x4.splat(0);
  for (let j: usize = 0; j < <usize>length << 2; j += 16) {
    const x = f32x4.sub(v128.load(to + j), f32x4.splat(mean));
    v128.store(to + j, x);
    squares = f32x4.add(squares, f32x4.mul(x, x));
  }
  const scale = f32x4.splat(<f32>1 / sqrt<f32>(max<f32>(1e-30, sumLanes(squares))));
  for (let j: usize = 0; j < <usize>length << 2; j += 16) {
    const x = f32x4.mul(v128.load(to + j), scale);
    v128.store(to + j, x);
    v128.store(TEMPLATE + j, f32x4.add(v128.load(TEMPLATE + j), x));
  }
  return true;
}

/** Gathers a wave of one light, and its mean up to a whole vector; returns the mean. */
function copyWave(light: usize, to: usize, length: i32): f32 {
  let sum: f32 = 0;
  for (let j: usize = 0; j < <usize>length; j++) {
    const x = load<f32>(light + (j << 4));
    store<f32>(to + (j << 2), x);
    sum += x;
  }
  const mean = sum / <f32>length;
  for (let j = length; j & 3; j++) store<f32>(to + (<usize>j << 2), mean);
  return mean;
}

/** Correlation of a wave with the sum of the others: with itself among them even noise would fit. */
function fit(wave: usize, length: i32): f32 {
  let products = f32x4.splat(0);
  let squares = products;
  for (let j: usize = 0; j < <usize>length << 2; j += 16) {
    const x = v128.load(wave + j);
    const others = f32x4.sub(v128.load(TEMPLATE + j), x);
    products = f32x4.add(products, f32x4.mul(x, others));
    squares = f32x4.add(squares, f32x4.mul(others, others));
  }
  return sumLanes(products) / sqrt<f32>(sumLanes(squares) + <f32>1e-30);
}
