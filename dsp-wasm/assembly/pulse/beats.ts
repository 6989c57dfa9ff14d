import { clearVectors } from '../math/vector';
import { Row, rowAt } from '../memory/row';
import { Beats, GRID_PER_MINUTE, MARGIN, MAX_PEAKS, PulseWindow, TRAINS, WINDOW } from './records';
import { BEAT, COUNT, LOADING } from './tuning';
import { fillMargins } from './window';

/**
 * Beats of the window in the time domain: the steepest slopes of each optical channel, at most one per 0.6 periods, after
 * smoothing that is matched to the rate (the derivative of a Gaussian: Canny 1986). Unlike a spectral line, the rate from
 * beats follows a rhythm that changes within the window. A train is the rising or the falling slopes of one optical channel.
 */

/** One side of the smoothing kernel. */
const KERNEL = changetype<Row<f32>>(memory.data(MARGIN * 4, 16));
/** Sums of two grid samples each, with margins before and after. */
const PAIRS_WITH_MARGINS = changetype<Row<v128>>(memory.data((WINDOW / 2 + MARGIN) * 16, 16));
/** Smoothed derivative. */
const SLOPES = changetype<Row<v128>>(memory.data(WINDOW * 16, 16));
/** Result of the beats of one train. */
@unmanaged
class TrainRate {
  /** Heart rate, bpm; 0 for fewer than two intervals. */
  rate: f32;
  /** Variation of the intervals plus that of the slopes. */
  spread: f32;
}
const TRAIN = changetype<TrainRate>(memory.data(offsetof<TrainRate>(), 16));

/** Finds the trains near `bpm` and their heart rate, in which regular trains have more weight. */
export function findBeats(window: PulseWindow, bpm: f32, to: Beats): void {
  const period = GRID_PER_MINUTE / bpm;
  findTrains(smoothSlopes(window.optical.samples, bpm), BEAT.SHORTEST_INTERVAL * period, to);
  to.lane = 0;
  let least: f32 = Infinity;
  let weights: f32 = 0;
  let sum: f32 = 0;
  for (let train = 0; train < TRAINS; train++) {
    if (window.held[train & 3] < LOADING.LEAST_HELD) continue;
    measureTrain(to, train, period, TRAIN);
    if (TRAIN.rate === 0) continue;
    const weight = <f32>1 / ((TRAIN.spread + BEAT.LEAST_SPREAD) * (TRAIN.spread + BEAT.LEAST_SPREAD));
    weights += weight;
    sum += weight * TRAIN.rate;
    if (TRAIN.spread >= least) continue;
    least = TRAIN.spread;
    to.lane = train & 3;
  }
  to.rate = weights > 0 ? sum / weights : 0;
}

/**
 * Derivative of a Gaussian over all lanes, to SLOPES; the kernel is odd, so that two grid samples share a coefficient.
 * @returns the stride: grid samples from one slope to the next
 */
function smoothSlopes(samples: Row<v128>, bpm: f32): i32 {
  const wide = (BEAT.SLOPE_WIDTH * GRID_PER_MINUTE) / bpm;
  const stride = wide < BEAT.WIDE_SLOPE ? 1 : 2;
  const sigma = wide / <f32>stride;
  const reach = min(MARGIN / stride, <i32>ceil<f32>(BEAT.SLOPE_REACH * sigma));
  for (let j = 1; j <= reach; j++) {
    const u = <f32>j / sigma;
    KERNEL[j - 1] = u * Mathf.exp(-0.5 * u * u);
  }
  fillMargins(samples);
  const from = stride === 1 ? samples : sumPairs(samples);
  for (let i = 0; i < WINDOW / stride; i += 8) smoothEight(from.at(i), SLOPES.at(i), reach);
  return stride;
}

/** Returns the sums of two grid samples each, with margins before and after. */
function sumPairs(samples: Row<v128>): Row<v128> {
  const pairs = rowAt<v128>(PAIRS_WITH_MARGINS.at(MARGIN / 2));
  for (let i = -MARGIN / 2; i < (WINDOW + MARGIN) / 2; i++) {
    pairs[i] = f32x4.add(samples[2 * i], samples[2 * i + 1]);
  }
  return pairs;
}

/** Eight slopes at a time, because that many sums fit into registers: each coefficient is loaded once for all. */
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
  for (let w = KERNEL.at(0); w < KERNEL.at(reach); w += 4) {
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

/** Peaks of the rising slopes (trains 0 to 3, by optical channel) and of the falling ones (4 to 7). */
function findTrains(stride: i32, spacing: f32, to: Beats): void {
  clearVectors(to.counts.at(0), TRAINS / 4);
  const count = WINDOW / stride;
  const least = f32x4.mul(steepest(count), f32x4.splat(COUNT.WEAK));
  const most = f32x4.neg(least);
  let a = SLOPES[0];
  let b = SLOPES[1];
  for (let i = 2; i < count; i++) {
    const c = SLOPES[i];
    const up = v128.and(f32x4.gt(b, least), v128.and(f32x4.ge(b, a), f32x4.gt(b, c)));
    const down = v128.and(f32x4.lt(b, most), v128.and(f32x4.le(b, a), f32x4.lt(b, c)));
    if (v128.any_true(v128.or(up, down)))
      addPeaks(i, i32x4.bitmask(up) | (i32x4.bitmask(down) << 4), stride, spacing, to);
    a = b;
    b = c;
  }
}

/** Largest magnitude of the slopes of each lane. */
function steepest(count: i32): v128 {
  let most = f32x4.splat(0);
  for (let i = 0; i < count; i++) most = f32x4.pmax(most, f32x4.abs(SLOPES[i]));
  return most;
}

/** Adds the peaks of slope i - 1 to the trains of `mask`. */
function addPeaks(i: i32, mask: i32, stride: i32, spacing: f32, to: Beats): void {
  while (mask) {
    const train = ctz(mask);
    mask &= mask - 1;
    const y = SLOPES.at(i) + ((<usize>(train & 3)) << 2);
    const a = load<f32>(y - 32);
    const b = load<f32>(y - 16);
    const c = load<f32>(y);
    const at = <f32>(i - 1) + (<f32>0.5 * (a - c)) / (a - b - b + c);
    addPeak(to, train, <f32>stride * at + <f32>0.5 * <f32>(stride - 1), abs<f32>(b), spacing);
  }
}

/** Appends a peak to its train; of two peaks that are too close, the steeper one is kept. */
function addPeak(to: Beats, train: i32, time: f32, height: f32, spacing: f32): void {
  const count = to.counts[train];
  const isNear = count > 0 && time - to.peak(train, count - 1).time < spacing;
  if (isNear ? height <= to.peak(train, count - 1).height : count >= MAX_PEAKS) return;
  const peak = to.peak(train, isNear ? count - 1 : count);
  peak.time = time;
  peak.height = height;
  if (!isNear) to.counts[train] = count + 1;
}

/**
 * Rate of one train. The mean interval depends on the first and the last beat, a least-squares line mainly on those in between. The rate is
 * the mean of both.
 */
function measureTrain(beats: Beats, train: i32, period: f32, to: TrainRate): void {
  const peaks = beats.counts[train];
  let intervals: f32 = 0;
  let sum: f32 = 0;
  let squares: f32 = 0;
  for (let i = 1; i < peaks; i++) {
    const interval = beats.peak(train, i).time - beats.peak(train, i - 1).time;
    if (interval > BEAT.LONGEST_INTERVAL * period) continue;
    intervals++;
    sum += interval;
    squares += interval * interval;
  }
  to.rate = 0;
  if (intervals < 2) return;
  to.spread = variation(intervals, sum, squares) + heightVariation(beats, train, peaks);
  to.rate = <f32>0.5 * GRID_PER_MINUTE * (intervals / sum + lineSlope(beats, train, peaks, period));
}

/** Slope of the least-squares line of the beats' numbers over their times; a long interval counts as several. */
function lineSlope(beats: Beats, train: i32, peaks: i32, period: f32): f32 {
  const first = beats.peak(train, 0).time;
  let number: f32 = 0;
  let numbers: f32 = 0;
  let times: f32 = 0;
  let squares: f32 = 0;
  let products: f32 = 0;
  for (let i = 1; i < peaks; i++) {
    const interval = beats.peak(train, i).time - beats.peak(train, i - 1).time;
    number += interval > BEAT.LONGEST_INTERVAL * period ? nearest<f32>(interval / period) : 1;
    const time = beats.peak(train, i).time - first;
    numbers += number;
    times += time;
    squares += time * time;
    products += time * number;
  }
  const n = <f32>peaks;
  return (n * products - times * numbers) / (n * squares - times * times);
}

function heightVariation(beats: Beats, train: i32, peaks: i32): f32 {
  let sum: f32 = 0;
  let squares: f32 = 0;
  for (let i = 0; i < peaks; i++) {
    const height = beats.peak(train, i).height;
    sum += height;
    squares += height * height;
  }
  return variation(<f32>peaks, sum, squares);
}

/** Standard deviation divided by the mean, from the number, the sum and the squares of positive values. */
export function variation(count: f32, sum: f32, squares: f32): f32 {
  return sqrt<f32>(max<f32>(0, squares * count - sum * sum)) / max<f32>(sum, 1e-30);
}
