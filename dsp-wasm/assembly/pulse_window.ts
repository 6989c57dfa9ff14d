import { CH_OFFSET, CH_SUBS, MAX_LIGHTS, SCRATCH, SLOT_LIGHT_COUNT, SLOT_LIGHTS, SLOW_HZ } from './layout';
import { cellsAt, copyCells, fillEmpty } from './window';

/** The last 8 s of four signals side by side, one per lane: the lights, or the axes of the accelerometer. */

export const WINDOW_SECONDS: i32 = 8;
export const WINDOW: i32 = 256; // WINDOW_SECONDS * SLOW_HZ
export const WINDOW_BYTES: usize = 4096;

// Scratch of the pulse estimate: one map for its files.
export const LIGHTS: usize = SCRATCH; // WINDOW x f32x4
export const AXES: usize = SCRATCH + 0x1000; // WINDOW x f32x4
export const ONE: usize = SCRATCH + 0x2000; // WINDOW x f32
export const HELD: usize = SCRATCH + 0x2400; // 4 x i32, cells with a value, by lane
export const MEANS: usize = SCRATCH + 0x2420; // 4 x f64, means by lane, offset included
export const REPEATS: usize = SCRATCH + 0x2440; // 4 x i32, cells equal to the one before
export const FFT_IN: usize = SCRATCH + 0x3000; // 512 x f32x4
export const FFT_WORK: usize = SCRATCH + 0x5000;
export const FFT_OUT: usize = SCRATCH + 0x7000; // 256 x (re, im) x f32x4
export const LIGHT_POWER: usize = SCRATCH + 0xa000; // 160 x f32x4
export const AXIS_POWER: usize = SCRATCH + 0xb000; // 160 x f32x4
export const PULSE: usize = SCRATCH + 0xc000; // 160 x f32, cleaned power spectrum
export const LIKELIHOOD: usize = SCRATCH + 0xc400; // 200 x f32
export const PERIODICITY: usize = SCRATCH + 0xc800; // 80 x f32, autocorrelation by lag
export const SLOPES: usize = SCRATCH + 0xd000; // WINDOW x f32x4, smoothed derivative
export const PEAKS: usize = SCRATCH + 0xe000; // 128 x (time f32, height f32)

/** Loads the lights; returns how many of them have data for a good part of the window. */
export function loadLights(slot: usize, end: f64): i32 {
  const lights = load<i32>(slot + SLOT_LIGHT_COUNT);
  let alive = 0;
  memory.fill(LIGHTS, 0, WINDOW_BYTES);
  for (let lane = 0; lane < MAX_LIGHTS; lane++) {
    const light = slot + SLOT_LIGHTS + (<usize>lane << 3);
    let held = 0;
    if (lane < lights) held = loadLane(<usize>load<u32>(light), load<i32>(light, 4), end, LIGHTS, lane);
    alive += <i32>(held >= LEAST_HELD);
  }
  removeTrend(LIGHTS);
  return alive;
}

/** Below 40 % of the window there are fewer than three beats at 60 bpm. */
export const LEAST_HELD: i32 = 102;

/** Loads the accelerometer's axes; returns 0 where it has no data for most of the window. */
export function loadAxes(accel: usize, end: f64): bool {
  if (!accel) return false;
  const subs = min(load<i32>(accel + CH_SUBS), 3);
  let held = 0;
  memory.fill(AXES, 0, WINDOW_BYTES);
  for (let lane = 0; lane < subs; lane++) held = loadLane(accel, lane, end, AXES, lane);
  for (let lane = subs; lane < 4; lane++) store<f64>(MEANS + (<usize>lane << 3), 0);
  removeTrend(AXES);
  return held >= LEAST_HELD;
}

function loadLane(channel: usize, sub: i32, end: f64, to: usize, lane: i32): i32 {
  const from = (<i32>end - WINDOW_SECONDS) * SLOW_HZ;
  const held = copyCells(channel, sub, from, WINDOW, cellsAt(channel, end), ONE);
  store<i32>(HELD + (<usize>lane << 2), held);
  fillEmpty(ONE, WINDOW);
  spread(to + (<usize>lane << 2), lane);
  const mean = load<f64>(MEANS + (<usize>lane << 3));
  store<f64>(MEANS + (<usize>lane << 3), mean + load<f64>(channel + CH_OFFSET + (<usize>sub << 3)));
  return held;
}

/** Moves ONE into a lane; notes its mean and how many values repeat the one before. */
function spread(to: usize, lane: i32): void {
  let sum: f64 = 0;
  let repeats = 0;
  let before: f32 = NaN;
  for (let i = 0; i < WINDOW; i++) {
    const x = load<f32>(ONE + (<usize>i << 2));
    sum += <f64>x;
    repeats += <i32>(x == before);
    before = x;
    store<f32>(to + (<usize>i << 4), x);
  }
  store<f64>(MEANS + (<usize>lane << 3), sum / <f64>WINDOW);
  store<i32>(REPEATS + (<usize>lane << 2), repeats);
}

/** Takes mean and slope (least squares) off each lane. */
function removeTrend(x: usize): void {
  const middle: f32 = 0.5 * <f32>(WINDOW - 1);
  let sum = f32x4.splat(0);
  let tilt = f32x4.splat(0);
  for (let i = 0; i < WINDOW; i++) {
    const v = v128.load(x + (<usize>i << 4));
    sum = f32x4.add(sum, v);
    tilt = f32x4.add(tilt, f32x4.mul(v, f32x4.splat(<f32>i - middle)));
  }
  const n = <f32>WINDOW;
  const mean = f32x4.mul(sum, f32x4.splat(<f32>1 / n));
  const slope = f32x4.mul(tilt, f32x4.splat(<f32>12 / (n * (n * n - <f32>1))));
  for (let i = 0; i < WINDOW; i++) {
    const line = f32x4.add(mean, f32x4.mul(slope, f32x4.splat(<f32>i - middle)));
    const at = x + (<usize>i << 4);
    v128.store(at, f32x4.sub(v128.load(at), line));
  }
}
