import { CH_OFFSET, CH_SUBS, MAX_LIGHTS, SCRATCH, SLOT_LIGHT_COUNT, SLOT_LIGHTS, SLOW_HZ } from './layout';
import { cellsAt, copyCells, fillEmpty } from './window';

/** The last 8 s of four signals side by side, one per lane: the lights, or the axes of the accelerometer. */

export const WINDOW_SECONDS: i32 = 8;
export const WINDOW: i32 = 256; // WINDOW_SECONDS * SLOW_HZ
export const WINDOW_BYTES: usize = 4096;
/** Cells before and after the lights which continue their outermost values, for filters. */
export const MARGIN: i32 = 32;
const MARGIN_BYTES: usize = 512;

// Scratch of the pulse estimate: one map for its files.
const LANE: usize = SCRATCH; // 4 x WINDOW x f32, signals one after the other
export const LIGHTS: usize = SCRATCH + 0x1200; // WINDOW x f32x4, MARGIN before and after
export const AXES: usize = SCRATCH + 0x2400; // WINDOW x f32x4
export const HELD: usize = SCRATCH + 0x3400; // 4 x i32, cells with a value, by light
export const CLIPPED: usize = SCRATCH + 0x3410; // 4 x f32, by light: share of the window near its extremes
export const SWINGS: usize = SCRATCH + 0x3420; // 4 x f32, by light: power of its swings within 1/2 s, in parts of all
export const JUMPS: usize = SCRATCH + 0x3430; // 4 x f32, by light: power of its steps from cell to cell, likewise
export const ENERGY: usize = SCRATCH + 0x34a0; // f32x4, sum of squares of what was loaded last, without its trend
export const STILL: usize = SCRATCH + 0x3480; // 4 x f32, by light: share of its cells that equal the one before
export const EVEN: usize = SCRATCH + 0x3490; // 4 x f32, by light: how evenly its steps from cell to cell are spread
export const MEANS: usize = SCRATCH + 0x3440; // 4 x f64, means of the axes, offset included
export const FFT_IN: usize = SCRATCH + 0x3800; // 512 x f32x4
export const FFT_WORK: usize = SCRATCH + 0x5800;
export const FFT_OUT: usize = SCRATCH + 0x7800; // 256 x (re, im) x f32x4
export const POWER: usize = SCRATCH + 0xa000; // 132 x f32x4
export const PULSE: usize = SCRATCH + 0xb000; // 132 x f32, power spectrum of the pulse
export const NOISE: usize = SCRATCH + 0xb400; // 132 x f32, of the accelerometer
export const LOUDEST: usize = SCRATCH + 0xb640; // 100 x f32, the same of its loudest axis
export const SLOPE_POWER: usize = SCRATCH + 0xb800; // 64 x f32
export const PERIODICITY: usize = SCRATCH + 0xbc00; // 80 x f32, autocorrelation by lag
export const LIKELIHOOD: usize = SCRATCH + 0xc000; // 204 x f32
export const RIGHT: usize = SCRATCH + 0xc400; // 204 x f32
export const LEFT: usize = SCRATCH + 0xc800; // 204 x f32
export const KERNEL: usize = SCRATCH + 0xcc00; // MARGIN x f32
export const SLOPES: usize = SCRATCH + 0xd000; // WINDOW x f32x4, smoothed derivative
export const PEAKS: usize = SCRATCH + 0xe000; // 8 x MAX_PEAKS x (time f32, height f32)
export const TRAINS: usize = SCRATCH + 0xf000; // 8 x i32, peaks in each
export const TEMPLATE: usize = SCRATCH + 0xf200; // 64 x f32, sum of the beats' waves
export const WAVES: usize = SCRATCH + 0x10000; // 64 x 64 x f32, the beats' waves

/** Below 40 % of the window there are fewer than three beats at 60 bpm. */
export const LEAST_HELD: i32 = 102;

/** Loads the lights; returns how many of them have data for a good part of the window. */
export function loadLights(slot: usize, end: f64): i32 {
  const lights = load<i32>(slot + SLOT_LIGHT_COUNT);
  let alive = 0;
  for (let lane = 0; lane < MAX_LIGHTS; lane++) {
    const light = slot + SLOT_LIGHTS + (<usize>lane << 3);
    const held = lane < lights ? loadLane(<usize>load<u32>(light), load<i32>(light, 4), end, lane) : emptyLane(lane);
    store<i32>(HELD + (<usize>lane << 2), held);
    alive += <i32>(held >= LEAST_HELD);
  }
  interleave(LIGHTS);
  v128.store(CLIPPED, clipped());
  measurePaces();
  removeTrend(LIGHTS);
  return alive;
}

/** Loads the accelerometer's axes and their means; returns whether it has data for a good part of the window. */
export function loadAxes(accel: usize, end: f64): bool {
  const subs = accel ? min(load<i32>(accel + CH_SUBS), 3) : 0;
  if (!subs) return false;
  let held = WINDOW;
  for (let lane = 0; lane < 4; lane++) {
    if (lane < subs) held = min(held, loadLane(accel, lane, end, lane));
    else emptyLane(lane);
  }
  interleave(AXES);
  const means = removeTrend(AXES);
  putMean(accel, 0, f32x4.extract_lane(means, 0));
  putMean(accel, 1, f32x4.extract_lane(means, 1));
  putMean(accel, 2, f32x4.extract_lane(means, 2));
  return held >= LEAST_HELD;
}

/** Mean of an axis, offset included; an axis that is not there has no offset. */
function putMean(accel: usize, axis: usize, mean: f32): void {
  const offset = load<f64>(accel + CH_OFFSET + (axis << 3));
  store<f64>(MEANS + (axis << 3), <f64>mean + (offset == offset ? offset : 0));
}

function loadLane(channel: usize, sub: i32, end: f64, lane: i32): i32 {
  const from = (<i32>end - WINDOW_SECONDS) * SLOW_HZ;
  const limit = cellsAt(channel, end);
  const to = LANE + <usize>lane * 1024;
  const held = copyCells(channel, sub, from, WINDOW, limit, to);
  if (held < WINDOW) fill(to, held, min(WINDOW, limit - from));
  return held;
}

/** Fills what is empty: mostly only the cells after `known`, for which no sample has come yet. */
function fill(x: usize, held: i32, known: i32): void {
  if (held < known || known <= 0) return fillEmpty(x, WINDOW);
  const last = load<f32>(x + (<usize>(known - 1) << 2));
  for (let i = known; i < WINDOW; i++) store<f32>(x + (<usize>i << 2), last);
}

function emptyLane(lane: i32): i32 {
  memory.fill(LANE + <usize>lane * 1024, 0, 1024);
  return 0;
}

/** Four signals one after the other to one vector per cell: 4 x 4 transpositions. */
function interleave(to: usize): void {
  for (let i: usize = 0; i < 1024; i += 16) {
    const a = v128.load(LANE + i);
    const b = v128.load(LANE + i, 1024);
    const c = v128.load(LANE + i, 2048);
    const d = v128.load(LANE + i, 3072);
    const ab = v128.shuffle<f32>(a, b, 0, 4, 1, 5);
    const cd = v128.shuffle<f32>(c, d, 0, 4, 1, 5);
    const ef = v128.shuffle<f32>(a, b, 2, 6, 3, 7);
    const gh = v128.shuffle<f32>(c, d, 2, 6, 3, 7);
    const y = to + (i << 2);
    v128.store(y, v128.shuffle<f32>(ab, cd, 0, 1, 4, 5));
    v128.store(y, v128.shuffle<f32>(ab, cd, 2, 3, 6, 7), 16);
    v128.store(y, v128.shuffle<f32>(ef, gh, 0, 1, 4, 5), 32);
    v128.store(y, v128.shuffle<f32>(ef, gh, 2, 3, 6, 7), 48);
  }
}

/** Takes mean and slope (least squares) off each lane; returns the means, and writes what is left to ENERGY. */
function removeTrend(x: usize): v128 {
  // Two cells at once, as sums wait for each other
  const two = f32x4.splat(2);
  const first = f32x4.splat(<f32>-0.5 * <f32>(WINDOW - 1));
  const second = f32x4.add(first, f32x4.splat(1));
  let sumA = f32x4.splat(0);
  let sumB = sumA;
  let tiltA = sumA;
  let tiltB = sumA;
  let atA = first;
  let atB = second;
  for (let i: usize = 0; i < WINDOW_BYTES; i += 32) {
    const a = v128.load(x + i);
    const b = v128.load(x + i, 16);
    sumA = f32x4.add(sumA, a);
    sumB = f32x4.add(sumB, b);
    tiltA = f32x4.add(tiltA, f32x4.mul(a, atA));
    tiltB = f32x4.add(tiltB, f32x4.mul(b, atB));
    atA = f32x4.add(atA, two);
    atB = f32x4.add(atB, two);
  }
  const n = <f32>WINDOW;
  const mean = f32x4.mul(f32x4.add(sumA, sumB), f32x4.splat(<f32>1 / n));
  const slope = f32x4.mul(f32x4.add(tiltA, tiltB), f32x4.splat(<f32>12 / (n * (n * n - <f32>1))));
  atA = first;
  atB = second;
  sumA = f32x4.splat(0);
  sumB = sumA;
  for (let i: usize = 0; i < WINDOW_BYTES; i += 32) {
    const a = f32x4.sub(v128.load(x + i), f32x4.add(mean, f32x4.mul(slope, atA)));
    const b = f32x4.sub(v128.load(x + i, 16), f32x4.add(mean, f32x4.mul(slope, atB)));
    v128.store(x + i, a);
    v128.store(x + i, b, 16);
    sumA = f32x4.add(sumA, f32x4.mul(a, a));
    sumB = f32x4.add(sumB, f32x4.mul(b, b));
    atA = f32x4.add(atA, two);
    atB = f32x4.add(atB, two);
  }
  v128.store(ENERGY, f32x4.add(sumA, sumB));
  return mean;
}

/** Share of each light's cells within 2 % of its range of the highest or lowest: 18 % of a sine, 100 % of rails. */
function clipped(): v128 {
  let low = v128.load(LIGHTS);
  let high = low;
  for (let i: usize = 0; i < WINDOW_BYTES; i += 16) {
    low = f32x4.pmin(low, v128.load(LIGHTS + i));
    high = f32x4.pmax(high, v128.load(LIGHTS + i));
  }
  const margin = f32x4.mul(f32x4.sub(high, low), f32x4.splat(0.02));
  low = f32x4.add(low, margin);
  high = f32x4.sub(high, margin);
  let count = i32x4.splat(0);
  for (let i: usize = 0; i < WINDOW_BYTES; i += 16) {
    const v = v128.load(LIGHTS + i);
    count = i32x4.sub(count, v128.or(f32x4.le(v, low), f32x4.ge(v, high)));
  }
  return f32x4.mul(f32x4.convert_i32x4_s(count), f32x4.splat(<f32>1 / <f32>WINDOW));
}

/**
 * Measures how the lights' power about their means, drift included, is spread: SWINGS, that of x[i - 8] - 2 x[i] + x[i + 8],
 * is 1 to 16 for a sine of 36 to 170 bpm and hardly anything for a drift; JUMPS, that of x[i] - x[i - 1], is below 0.35 for
 * a sine of up to 180 bpm, 2 for white noise and 4 at the grid's Nyquist frequency. STILL is near 1 for what only its
 * converter's last bit moves. EVEN is the share of cells that the steps' power would fill if they were alike (the squared
 * mean over the mean square): 0.4 to 0.8 for pulses, 0.6 for noise, below 0.1 where it stands in one or two leaps.
 */
function measurePaces(): void {
  const half: usize = 8 << 4;
  let jumps = f32x4.splat(0);
  let sizes = jumps;
  let swings = jumps;
  let sum = jumps;
  let squares = jumps;
  const first = v128.load(LIGHTS);
  let before = jumps;
  let still = i32x4.splat(0);
  for (let i: usize = 0; i < WINDOW_BYTES; i += 16) {
    const v = f32x4.sub(v128.load(LIGHTS + i), first);
    const jump = f32x4.sub(v, before);
    still = i32x4.sub(still, f32x4.eq(v, before));
    before = v;
    sum = f32x4.add(sum, v);
    squares = f32x4.add(squares, f32x4.mul(v, v));
    jumps = f32x4.add(jumps, f32x4.mul(jump, jump));
    sizes = f32x4.add(sizes, f32x4.abs(jump));
    if (i < half || i >= WINDOW_BYTES - half) continue;
    const about = f32x4.sub(f32x4.add(v128.load(LIGHTS + i - half), v128.load(LIGHTS + i + half)), f32x4.add(first, first));
    const swing = f32x4.sub(about, f32x4.add(v, v));
    swings = f32x4.add(swings, f32x4.mul(swing, swing));
  }
  const all = f32x4.sub(squares, f32x4.mul(f32x4.mul(sum, sum), f32x4.splat(<f32>1 / <f32>WINDOW)));
  const scale = f32x4.div(f32x4.splat(1), f32x4.max(all, f32x4.splat(1e-30)));
  v128.store(SWINGS, f32x4.mul(swings, scale));
  v128.store(JUMPS, f32x4.mul(jumps, scale));
  // What is filled in at the window's ends stands still, too, and says nothing
  const held = v128.load(HELD);
  const cells = f32x4.convert_i32x4_s(i32x4.max_s(held, i32x4.splat(1)));
  const filled = i32x4.sub(i32x4.splat(WINDOW), held);
  v128.store(STILL, f32x4.div(f32x4.convert_i32x4_s(i32x4.sub(still, filled)), cells));
  const alike = f32x4.max(f32x4.mul(cells, jumps), f32x4.splat(1e-30));
  v128.store(EVEN, f32x4.div(f32x4.mul(sizes, sizes), alike));
}

/** Continues the lights' outermost values into the margins. */
export function fillMargins(): void {
  const first = v128.load(LIGHTS);
  const last = v128.load(LIGHTS + WINDOW_BYTES - 16);
  for (let i: usize = 0; i < MARGIN_BYTES; i += 16) {
    v128.store(LIGHTS - MARGIN_BYTES + i, first);
    v128.store(LIGHTS + WINDOW_BYTES + i, last);
  }
}
