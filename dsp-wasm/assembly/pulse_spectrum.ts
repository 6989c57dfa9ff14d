import { paddedFft4, TWIDDLES_BYTES } from './fft';
import { countLanes } from './lanes';
import { HR_PPG_STATE, SLOT_LIGHT_COUNT, TABLES } from './layout';
import {
  AXES,
  ENERGY,
  FFT_IN,
  FFT_OUT,
  FFT_WORK,
  HELD,
  LEAST_HELD,
  LIGHTS,
  LOUDEST,
  MEANS,
  NOISE,
  POWER,
  PULSE,
  WINDOW,
} from './pulse_window';
import { sumLanes } from './window';

/**
 * The pulse's power spectrum over the lights, cleaned of the lines which the accelerometer has too: a Wiener filter whose
 * noise is the accelerometer's spectrum (Temko, "Accurate wearable heart rate monitoring during physical exercises using
 * PPG", IEEE TBME 2017), weighted by how much the wrist moves.
 */

/**
 * The window is thinned to every second cell first, by the weights 1, 3, 3, 1: of what is above 10 Hz at most a tenth of the
 * power falls on the bins that are kept. What the weights take off those is made good.
 */
const POINTS: i32 = WINDOW / 2;
/** Transform length: the points padded to twice, bins of 3.75 bpm under a main lobe of 30 bpm. */
const LENGTH: i32 = 256;
/** Bins kept: 0.44 to 6 Hz. */
export const FIRST_BIN: i32 = 7;
export const BINS: i32 = 97;
const BINS_BYTES: usize = 400; // of f32, up to a whole vector
/** Hz per bin. */
export const BIN_HZ: f32 = 0.0625; // SLOW_HZ / 2 / LENGTH

/** Weight of the accelerometer's lines against the pulse's, both scaled to a maximum of one. */
const NOISE_GAIN: f32 = 6;
/** Standard deviation of the acceleration, in g, from which the wrist counts as moving: ten times a wrist at rest. */
const MOTION_G: f64 = 0.03;
/** Motion below which the accelerometer has nothing but its own noise to take off. */
const STILL: f32 = 0.01;
/** Share of the last step's spectra in the filter (not in what it filters): 1 s of memory. */
const MEMORY: f32 = 0.5;

const HANN: usize = TABLES + TWIDDLES_BYTES; // POINTS x f32, a quarter of the window
const GAIN: usize = HANN + <usize>POINTS * 4; // BINS x f32, of the power

// State, offsets in the slot; the tracker's lies behind.
const WARM: usize = HR_PPG_STATE + 16; // i32, the means hold something
const PULSE_MEAN: usize = HR_PPG_STATE + 64; // BINS x f32
const NOISE_MEAN: usize = HR_PPG_STATE + 640; // BINS x f32
const LOUDEST_MEAN: usize = HR_PPG_STATE + 2304; // BINS x f32

export function makeHann(): void {
  for (let i = 0; i < POINTS; i++) {
    const phase = (2 * Math.PI * (<f64>i + 0.5)) / <f64>POINTS;
    store<f32>(HANN + (<usize>i << 2), <f32>(0.25 * (0.5 - 0.5 * Math.cos(phase))));
  }
  for (let k = 0; k < BINS; k++) {
    const passed = Math.cos((Math.PI * <f64>k) / <f64>(4 * POINTS));
    store<f32>(GAIN + (<usize>k << 2), <f32>Math.pow(passed, -6));
  }
}

/** Forgets the running means. */
export function resetSpectrum(slot: usize): void {
  store<i32>(slot + WARM, 0);
}

/**
 * Writes PULSE, BINS of power at multiples of BIN_HZ, its strongest about one.
 * @param hasAxes whether AXES are loaded
 * @returns the motion in [0, 1], or -1 where no light varies
 */
export function pulseSpectrum(slot: usize, hasAxes: bool): f32 {
  const motion: f32 = hasAxes ? motionOf() : 0;
  powers(LIGHTS, load<i32>(slot + SLOT_LIGHT_COUNT));
  if (!combineLights(motion)) return -1;
  if (motion > STILL) {
    powers(AXES, 3);
    combineAxes(motion);
    clean(slot, motion);
  } else {
    resetSpectrum(slot);
  }
  return motion;
}

/** Share of the acceleration that is motion: variance against gravity (the mean vector), in [0, 1]. */
function motionOf(): f32 {
  let gravity: f64 = 0;
  for (let axis: usize = 0; axis < 3; axis++) gravity += load<f64>(MEANS + (axis << 3)) * load<f64>(MEANS + (axis << 3));
  const variance = <f64>sumLanes(v128.load(ENERGY)) / <f64>WINDOW / (gravity + 1e-30);
  return <f32>(variance / (variance + MOTION_G * MOTION_G));
}

/** Power spectra of so many signals, side by side, under a Hann window, to POWER, BINS vectors; scales are the callers'. */
function powers(x: usize, signals: i32): void {
  countLanes(signals, POINTS);
  thin(x);
  paddedFft4(FFT_IN, FFT_WORK, LENGTH, BINS, FFT_OUT);
  for (let k: usize = 0; k < <usize>BINS; k++) {
    const re = v128.load(FFT_OUT + (k << 5));
    const im = v128.load(FFT_OUT + (k << 5), 16);
    const power = f32x4.add(f32x4.mul(re, re), f32x4.mul(im, im));
    v128.store(POWER + (k << 4), f32x4.mul(power, v128.load32_splat(GAIN + (k << 2))));
  }
}

/** Writes every second cell, weighed by the window, to FFT_IN; the window's ends weigh nothing. */
function thin(x: usize): void {
  v128.store(FFT_IN, f32x4.splat(0));
  v128.store(FFT_IN + (<usize>(POINTS - 1) << 4), f32x4.splat(0));
  for (let i: usize = 1; i < <usize>POINTS - 1; i++) {
    const at = x + (i << 5);
    const outer = f32x4.add(v128.load(at - 16), v128.load(at, 32));
    const inner = f32x4.add(v128.load(at), v128.load(at, 16));
    const sum = f32x4.add(outer, f32x4.mul(inner, f32x4.splat(3)));
    v128.store(FFT_IN + (i << 4), f32x4.mul(sum, v128.load32_splat(HANN + (i << 2))));
  }
}

/** At rest power is weighted by f, which takes the slow baseline down; in motion, where high lines are noise, not. */
// @ts-ignore: decorator
@inline
function emphasis(k: i32, motion: f32): f32 {
  return motion + (<f32>1 - motion) * (BIN_HZ * <f32>k);
}

/** Of four bins from k on. */
// @ts-ignore: decorator
@inline
function emphases(k: i32, motion: f32): v128 {
  const bins = f32x4.add(f32x4.splat(<f32>k), f32x4(0, 1, 2, 3));
  return f32x4.add(f32x4.splat(motion), f32x4.mul(f32x4.splat((<f32>1 - motion) * BIN_HZ), bins));
}

/** Reciprocal of each lane's strongest emphasised bin; 0 for a lane that is flat or not in `mask`. */
function scaleOf(motion: f32, mask: v128): v128 {
  let most = f32x4.splat(0);
  for (let k = FIRST_BIN; k < BINS; k++) {
    most = f32x4.pmax(most, f32x4.mul(v128.load(POWER + (<usize>k << 4)), f32x4.splat(emphasis(k, motion))));
  }
  const used = v128.and(mask, f32x4.gt(most, f32x4.splat(1e-20)));
  return v128.and(used, f32x4.div(f32x4.splat(1), f32x4.pmax(most, f32x4.splat(1e-20))));
}

/** PULSE: mean of the lights' spectra, each scaled to a maximum of one; false where all are flat. */
function combineLights(motion: f32): bool {
  const mask = i32x4.ge_s(v128.load(HELD), i32x4.splat(LEAST_HELD));
  const scale = scaleOf(motion, mask);
  const lanes = popcnt(i32x4.bitmask(f32x4.gt(scale, f32x4.splat(0))));
  if (!lanes) return false;
  const share = f32x4.mul(scale, f32x4.splat(<f32>1 / <f32>lanes));
  for (let k = 4; k < BINS; k += 4) {
    const power = POWER + (<usize>k << 4);
    const a = f32x4.mul(v128.load(power), share);
    const b = f32x4.mul(v128.load(power, 16), share);
    const c = f32x4.mul(v128.load(power, 32), share);
    const d = f32x4.mul(v128.load(power, 48), share);
    v128.store(PULSE + (<usize>k << 2), f32x4.mul(sumsOf(a, b, c, d), emphases(k, motion)));
  }
  clearOutside(PULSE);
  return true;
}

/** NOISE: square of the mean of the axes' amplitudes, each scaled to a maximum of one. LOUDEST: their greatest power. */
function combineAxes(motion: f32): void {
  const scale = scaleOf(motion, i32x4(-1, -1, -1, 0));
  for (let k = 4; k < BINS; k += 4) {
    const power = POWER + (<usize>k << 4);
    const a = f32x4.mul(v128.load(power), scale);
    const b = f32x4.mul(v128.load(power, 16), scale);
    const c = f32x4.mul(v128.load(power, 32), scale);
    const d = f32x4.mul(v128.load(power, 48), scale);
    const amplitude = sumsOf(f32x4.sqrt(a), f32x4.sqrt(b), f32x4.sqrt(c), f32x4.sqrt(d));
    const weight = emphases(k, motion);
    const square = f32x4.mul(f32x4.mul(amplitude, amplitude), f32x4.splat(<f32>(1.0 / 9.0)));
    v128.store(NOISE + (<usize>k << 2), f32x4.mul(square, weight));
    v128.store(LOUDEST + (<usize>k << 2), f32x4.mul(mostOf(a, b, c, d), weight));
  }
  clearOutside(NOISE);
  clearOutside(LOUDEST);
}

/** Sum of each vector's lanes. */
// @ts-ignore: decorator
@inline
function sumsOf(a: v128, b: v128, c: v128, d: v128): v128 {
  const ab = f32x4.add(v128.shuffle<f32>(a, b, 0, 4, 1, 5), v128.shuffle<f32>(a, b, 2, 6, 3, 7));
  const cd = f32x4.add(v128.shuffle<f32>(c, d, 0, 4, 1, 5), v128.shuffle<f32>(c, d, 2, 6, 3, 7));
  return f32x4.add(v128.shuffle<f32>(ab, cd, 0, 1, 4, 5), v128.shuffle<f32>(ab, cd, 2, 3, 6, 7));
}

/** Largest of each vector's lanes. */
// @ts-ignore: decorator
@inline
function mostOf(a: v128, b: v128, c: v128, d: v128): v128 {
  const ab = f32x4.pmax(v128.shuffle<f32>(a, b, 0, 4, 1, 5), v128.shuffle<f32>(a, b, 2, 6, 3, 7));
  const cd = f32x4.pmax(v128.shuffle<f32>(c, d, 0, 4, 1, 5), v128.shuffle<f32>(c, d, 2, 6, 3, 7));
  return f32x4.pmax(v128.shuffle<f32>(ab, cd, 0, 1, 4, 5), v128.shuffle<f32>(ab, cd, 2, 3, 6, 7));
}

/** Empties the bins below the first and, up to a whole vector, above the last. */
function clearOutside(row: usize): void {
  for (let k: usize = 0; k < <usize>FIRST_BIN; k++) store<f32>(row + (k << 2), 0);
  for (let k: usize = BINS; k < BINS_BYTES >> 2; k++) store<f32>(row + (k << 2), 0);
}

/**
 * How far the light's line nearest to a rate is its own: 1 where no axis has one, 1/3 where one has it as the light does,
 * as in a light that shows nothing but the motion.
 */
export function apartFromMotion(slot: usize, bpm: f32, motion: f32): f32 {
  if (motion <= STILL) return 1;
  const k = <usize>(bpm / (60 * BIN_HZ) + <f32>0.5) << 2;
  const p = load<f32>(slot + PULSE_MEAN + k);
  return p / (p + 2 * motion * load<f32>(slot + LOUDEST_MEAN + k) + <f32>1e-9);
}

/** Weighs each bin of PULSE by pulse / (pulse + gain * noise), both smoothed in time. */
function clean(slot: usize, motion: f32): void {
  const old = f32x4.splat(load<i32>(slot + WARM) ? MEMORY : 0);
  const fresh = f32x4.sub(f32x4.splat(1), old);
  const gain = f32x4.splat(NOISE_GAIN * motion);
  store<i32>(slot + WARM, 1);
  for (let k: usize = 0; k < BINS_BYTES; k += 16) {
    const pulse = v128.load(PULSE + k);
    const p = f32x4.add(f32x4.mul(old, v128.load(slot + PULSE_MEAN + k)), f32x4.mul(fresh, pulse));
    const n = f32x4.add(f32x4.mul(old, v128.load(slot + NOISE_MEAN + k)), f32x4.mul(fresh, v128.load(NOISE + k)));
    v128.store(slot + PULSE_MEAN + k, p);
    v128.store(slot + NOISE_MEAN + k, n);
    const most = f32x4.mul(old, v128.load(slot + LOUDEST_MEAN + k));
    v128.store(slot + LOUDEST_MEAN + k, f32x4.add(most, f32x4.mul(fresh, v128.load(LOUDEST + k))));
    const all = f32x4.add(f32x4.add(p, f32x4.mul(gain, n)), f32x4.splat(1e-9));
    v128.store(PULSE + k, f32x4.div(f32x4.mul(pulse, p), all));
  }
}
