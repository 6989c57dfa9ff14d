import { CH_OFFSET, KIND_PPG_IR, KIND_PPG_RED, OUT_CONFIDENCE, OUT_VALUE, SCRATCH, SLOW_HZ } from './layout';
import { channelOfKind } from './session';
import { cellsAt, copyCells } from './window';

/**
 * SpO2 as the ratio of ratios R = (AC red / DC red) / (AC infrared / DC infrared) (Webster, Design of Pulse
 * Oximeters, 1997, chapter 4), by regression over the whole pulse instead of peaks and troughs. The AC is the light's
 * slope over 1/8 s, so that drift is gone without a filter that must settle: half a window already answers. One
 * second, about a beat, at a time is regressed, and only seconds in which both lights tell the same story are pooled,
 * so a jolt in one of them is left out. The line is the reduced major axis (std / std): noise in infrared does not
 * pull R down, as it would with least squares.
 */

const CELLS: i32 = 256; // the window, 8 s
const BLOCK: i32 = SLOW_HZ; // one second
const BLOCKS: i32 = CELLS / BLOCK;
/** Cells which a slope looks back over: 4 apart, each smoothed over 3. */
const REACH: i32 = 6;

// Scratch: a row per light, and the sums of each block.
const RAW: usize = SCRATCH + 0x20; // slopes reach before it
const RED: usize = SCRATCH + 0x800;
const INFRARED: usize = SCRATCH + 0x1000;
const SUMS: usize = SCRATCH + 0x1800;
const SUM_BYTES: i32 = 32;
const PRODUCTS: usize = SCRATCH + 0x1a00; // by lag, f64: sums of x[i] x[i + lag]

/** Correlation of the lights within a second from which it counts; noise alone hardly reaches it. */
const ACCEPTED: f64 = 0.7;
/** A second counts with at least half of its slopes. */
const ENOUGH: f64 = 16;
const LEAST_BLOCKS: i32 = 3;
/** Slowest and fastest pulse looked for, in cells a beat: 40 and 190 bpm. */
const LAG_MAX: i32 = 48;
const LAG_MIN: i32 = 10;
/** Correlation at a shorter lag from which the lights hum. */
const SOONER: f64 = 0.5;

let redDc: f64 = 0;
let infraredDc: f64 = 0;
let pooledRed: f64 = 0;
let pooledBoth: f64 = 0;
let pooledInfrared: f64 = 0;
/** Of the accepted seconds: sum of the squares of infrared², and infrared² before each second's mean was taken off. */
let pooledSquares: f64 = 0;
let pooledWhole: f64 = 0;

/** Estimate of the window that ends at `end` (seconds): writes R to OUT_VALUE and OUT_CONFIDENCE; 1, or 0 for none. */
export function estimateSpo2(slot: usize, end: f64): i32 {
  const red = channelOfKind(slot, KIND_PPG_RED);
  const infrared = channelOfKind(slot, KIND_PPG_IR);
  if (!red || !infrared) return 0;
  redDc = slopes(red, end, RED);
  infraredDc = slopes(infrared, end, INFRARED);
  if (!(redDc > 0 && infraredDc > 0)) return 0;
  const blocks = sumBlocks();
  return blocks < LEAST_BLOCKS ? 0 : regress(slot, blocks);
}

/** Writes the window's slopes (NaN where a cell is missing) to `to`; returns the mean light, 0 where there is none. */
function slopes(channel: usize, end: f64, to: usize): f64 {
  const from = <i32>end * SLOW_HZ - CELLS;
  if (!copyCells(channel, 0, from, CELLS, cellsAt(channel, end), RAW)) return 0;
  for (let i: usize = 0; i < <usize>CELLS << 2; i += 16) {
    v128.store(to + i, f32x4.sub(smooth(RAW + i), smooth(RAW + i - 16)));
  }
  // What lies before the window is not of it.
  for (let i = 0; i < REACH; i++) store<f32>(to + (<usize>i << 2), NaN);
  return load<f64>(channel + CH_OFFSET) + meanOf(RAW);
}

/** Four cells, each with the two before it, weights 1, 2, 1. */
// @ts-ignore: decorator
@inline
function smooth(x: usize): v128 {
  const middle = v128.load(x - 4);
  return f32x4.add(f32x4.add(v128.load(x), v128.load(x - 8)), f32x4.add(middle, middle));
}

/** Mean of a row's values that are there. */
function meanOf(x: usize): f64 {
  let sum = f32x4.splat(0);
  let count = sum;
  for (let i: usize = 0; i < <usize>CELLS << 2; i += 16) {
    const v = v128.load(x + i);
    const known = f32x4.eq(v, v);
    sum = f32x4.add(sum, v128.and(v, known));
    count = f32x4.add(count, v128.and(f32x4.splat(1), known));
  }
  return total(sum) / total(count);
}

/** Sums the products of each second's slopes; returns how many seconds were held. */
function sumBlocks(): i32 {
  let held = 0;
  for (let b = 0; b < BLOCKS; b++) held += <i32>sumBlock(<usize>(b * BLOCK) << 2, SUMS + <usize>(b * SUM_BYTES));
  return held;
}

/**
 * Writes the sums of red², red x infrared and infrared² about their means (f64), or NaN where less than half of the
 * second is there. A slope that is missing in one light counts in neither.
 */
function sumBlock(from: usize, sums: usize): bool {
  let n = f32x4.splat(0);
  let a = n;
  let b = n;
  let aa = n;
  let ab = n;
  let bb = n;
  for (let i = from; i < from + (<usize>BLOCK << 2); i += 16) {
    const red = v128.load(RED + i);
    const infrared = v128.load(INFRARED + i);
    const both = v128.and(f32x4.eq(red, red), f32x4.eq(infrared, infrared));
    const x = v128.and(red, both);
    const y = v128.and(infrared, both);
    n = f32x4.add(n, v128.and(f32x4.splat(1), both));
    a = f32x4.add(a, x);
    b = f32x4.add(b, y);
    aa = f32x4.add(aa, f32x4.mul(x, x));
    ab = f32x4.add(ab, f32x4.mul(x, y));
    bb = f32x4.add(bb, f32x4.mul(y, y));
  }
  const count = total(n);
  const sumA = total(a);
  const sumB = total(b);
  store<f64>(sums, count < ENOUGH ? NaN : total(aa) - (sumA * sumA) / count);
  store<f64>(sums, total(ab) - (sumA * sumB) / count, 8);
  store<f64>(sums, total(bb) - (sumB * sumB) / count, 16);
  store<f64>(sums, total(bb), 24);
  return count >= ENOUGH;
}

// @ts-ignore: decorator
@inline
function total(x: v128): f64 {
  const pairs = f64x2.add(f64x2.promote_low_f32x4(x), f64x2.promote_low_f32x4(i32x4.shuffle(x, x, 2, 3, 2, 3)));
  return f64x2.extract_lane(pairs, 0) + f64x2.extract_lane(pairs, 1);
}

/** Pools the accepted seconds (all, where none is) and writes the answer. */
function regress(slot: usize, blocks: i32): i32 {
  const accepted = pool(ACCEPTED);
  if (!accepted) pool(-1);
  const aa = pooledRed;
  const bb = pooledInfrared;
  if (!(aa > 0 && bb > 0)) return 0;
  const correlation = pooledBoth / Math.sqrt(aa * bb);
  // Slopes of 4 cells' reach carry a factor of 4 (the smoothing's sum of weights).
  const perfusion = Math.sqrt(bb / <f64>(max(accepted, 1) * BLOCK)) / 4 / infraredDc;
  const ratio = (Math.sqrt(aa / bb) * infraredDc) / redDc;
  store<f64>(slot + OUT_VALUE, ratio);
  const share = <f64>accepted / <f64>blocks;
  const lights = share * ramp(correlation, 0.6, 0.9) * ramp(perfusion, 0.00005, 0.0002);
  store<f64>(slot + OUT_CONFIDENCE, lights * evenness(accepted) * pulsatility() * certainty(ratio));
  return 1;
}

/** Adds up the seconds whose lights correlate at least so much; returns how many. */
function pool(least: f64): i32 {
  let accepted = 0;
  pooledRed = 0;
  pooledBoth = 0;
  pooledInfrared = 0;
  pooledSquares = 0;
  pooledWhole = 0;
  for (let b = 0; b < BLOCKS; b++) {
    const sums = SUMS + <usize>(b * SUM_BYTES);
    const aa = load<f64>(sums);
    const ab = load<f64>(sums, 8);
    const bb = load<f64>(sums, 16);
    if (!(aa * bb > 0) || !(ab >= least * Math.sqrt(aa * bb))) continue;
    accepted++;
    pooledRed += aa;
    pooledBoth += ab;
    pooledInfrared += bb;
    pooledSquares += bb * bb;
    pooledWhole += load<f64>(sums, 24);
  }
  return accepted;
}

/**
 * P(within 3 %) of a clean window by its ratio. What is uncertain in R, above all the two lights' different paths
 * through the tissue, counts by R itself times some 30 %, so that oximeters err the more the lower the saturation
 * (Feiner, Severinghaus and Bickler, Anesth. Analg. 105, 2007): below 85 % (R from 0.75 on) most readings miss 3 %.
 */
function certainty(ratio: f64): f64 {
  return 0.95 - 0.55 * ramp(ratio, 0.65, 0.8);
}

/** 0 below `from`, 1 above `to`, a line between; 0 for NaN. */
function ramp(x: f64, from: f64, to: f64): f64 {
  const y = (x - from) / (to - from);
  return y > 0 ? min(y, 1) : 0;
}

/**
 * How much the infrared slopes are a pulse's. Movement and interference reach both lights alike and correlate well, but
 * neither repeat at the pace of a heart nor rise more steeply than they fall. A rhythm that does not repeat still does
 * the latter, and is trusted less. Lights that agree about anything else keep a fifth.
 */
function pulsatility(): f64 {
  const first = centre();
  return max(0.2, max(ramp(periodicity(first), 0.3, 0.6), 0.7 * ramp(Math.abs(skewness(first)), 0.7, 1)));
}

/**
 * 1 where each second has its share of the infrared's swings, as every one holds about a beat; 0 where one of eight holds
 * them all (a step, a spike), or where the slopes hardly change within a second (a drift).
 */
function evenness(accepted: i32): f64 {
  const swings = pooledInfrared;
  const spread = (swings * swings) / (pooledSquares * <f64>max(accepted, 1));
  return ramp(spread, 0.2, 0.4) * ramp(swings / pooledWhole, 0.05, 0.2);
}

/** Third standardised moment: about 1.3 for a pulse, below 0.7 in 99 of 100 windows of noise. */
function skewness(first: i32): f64 {
  let squares = f32x4.splat(0);
  let cubes = squares;
  for (let i: usize = 0; i < <usize>CELLS << 2; i += 16) {
    const v = v128.load(INFRARED + i);
    const square = f32x4.mul(v, v);
    squares = f32x4.add(squares, square);
    cubes = f32x4.add(cubes, f32x4.mul(square, v));
  }
  const variance = total(squares) / <f64>(CELLS - first);
  return total(cubes) / <f64>(CELLS - first) / (variance * Math.sqrt(variance));
}

/** Highest peak of the autocorrelation from cell `first` on, at the lags of a pulse: noise and drift stay below 0.5. */
function periodicity(first: i32): f64 {
  const count = CELLS - first;
  const x = INFRARED + (<usize>first << 2);
  const energy = product(x, x, count);
  correlate(x, count);
  const sooner = repeatsSooner(energy);
  let head = energy - product(x, x, LAG_MIN);
  let tail = energy - product(x + (<usize>(count - LAG_MIN) << 2), x + (<usize>(count - LAG_MIN) << 2), LAG_MIN);
  let best: f64 = 0;
  let before: f64 = 0;
  let beforeLast: f64 = Infinity;
  for (let lag = LAG_MIN; lag <= min(LAG_MAX, count / 2); lag += 2) {
    const now = productAt(lag) / Math.sqrt(head * tail + 1e-300);
    if (before >= beforeLast && before >= now) best = max(best, before);
    beforeLast = before;
    before = now;
    head -= square(x, lag) + square(x, lag + 1);
    tail -= square(x, count - lag - 1) + square(x, count - lag - 2);
  }
  return sooner ? 0 : best;
}

/** Whether the autocorrelation has a peak as high as a pulse's at a lag too short for a heart: a hum, folded by the grid. */
function repeatsSooner(energy: f64): bool {
  let before = productAt(2);
  let beforeLast = energy;
  for (let lag = 3; lag < LAG_MIN; lag++) {
    const now = productAt(lag);
    if (before > beforeLast && before >= now && before > SOONER * energy) return true;
    beforeLast = before;
    before = now;
  }
  return false;
}

/** Writes PRODUCTS of the lags below LAG_MIN and of every second one from there on. */
function correlate(x: usize, count: i32): void {
  for (let lag = 1; lag < LAG_MIN; lag += 4) correlateFour(x, count, lag, 1);
  for (let lag = LAG_MIN; lag <= LAG_MAX; lag += 8) correlateFour(x, count, lag, 2);
}

/** Four lags, `apart` from each other, at once: a sum alone would wait for its own additions. */
function correlateFour(x: usize, count: i32, lag: i32, apart: i32): void {
  const shared = max(0, count - lag - 3 * apart) & ~3;
  const step = <usize>apart << 2;
  let y = x + (<usize>lag << 2);
  let a = f32x4.splat(0);
  let b = a;
  let c = a;
  let d = a;
  for (let i = x; i < x + (<usize>shared << 2); i += 16, y += 16) {
    const v = v128.load(i);
    a = f32x4.add(a, f32x4.mul(v, v128.load(y)));
    b = f32x4.add(b, f32x4.mul(v, v128.load(y + step)));
    c = f32x4.add(c, f32x4.mul(v, v128.load(y + 2 * step)));
    d = f32x4.add(d, f32x4.mul(v, v128.load(y + 3 * step)));
  }
  finishProduct(a, shared, x, count, lag);
  finishProduct(b, shared, x, count, lag + apart);
  finishProduct(c, shared, x, count, lag + 2 * apart);
  finishProduct(d, shared, x, count, lag + 3 * apart);
}

function finishProduct(sum: v128, done: i32, x: usize, count: i32, lag: i32): void {
  store<f64>(PRODUCTS + (<usize>lag << 3), productFrom(sum, done, x, x + (<usize>lag << 2), count - lag));
}

// @ts-ignore: decorator
@inline
function productAt(lag: i32): f64 {
  return load<f64>(PRODUCTS + (<usize>lag << 3));
}

/** Takes the mean off the infrared slopes and puts 0 where there is none; returns the first that is there. */
function centre(): i32 {
  const mean = f32x4.splat(<f32>meanOf(INFRARED));
  let first = 0;
  while (first < CELLS && isNaN(load<f32>(INFRARED + (<usize>first << 2)))) first++;
  for (let i: usize = 0; i < <usize>CELLS << 2; i += 16) {
    const v = v128.load(INFRARED + i);
    v128.store(INFRARED + i, v128.and(f32x4.sub(v, mean), f32x4.eq(v, v)));
  }
  return first;
}

/** Sum of x[i] y[i]. */
function product(x: usize, y: usize, count: i32): f64 {
  return productFrom(f32x4.splat(0), 0, x, y, count);
}

/** The same, the sum of the first `done` (a multiple of four) being there. */
function productFrom(sum: v128, done: i32, x: usize, y: usize, count: i32): f64 {
  const whole = count & ~3;
  for (let i = <usize>done << 2; i < <usize>whole << 2; i += 16) {
    sum = f32x4.add(sum, f32x4.mul(v128.load(x + i), v128.load(y + i)));
  }
  let rest = total(sum);
  for (let i = whole; i < count; i++) rest += <f64>(load<f32>(x + (<usize>i << 2)) * load<f32>(y + (<usize>i << 2)));
  return rest;
}

// @ts-ignore: decorator
@inline
function square(x: usize, i: i32): f64 {
  const v = load<f32>(x + (<usize>i << 2));
  return <f64>(v * v);
}
