import { realFft4, TWIDDLES_BYTES } from './fft';
import { HR_PPG_STATE, SLOW_HZ, TABLES } from './layout';
import {
  AXES,
  AXIS_POWER,
  FFT_IN,
  FFT_OUT,
  FFT_WORK,
  HELD,
  LEAST_HELD,
  LIGHT_POWER,
  LIGHTS,
  MEANS,
  PULSE,
  WINDOW,
  WINDOW_BYTES,
} from './pulse_window';

/**
 * The pulse's power spectrum over the lights, cleaned of the lines which the accelerometer has too: a Wiener filter whose
 * noise is the accelerometer's spectrum (Temko, "Accurate wearable heart rate monitoring during physical exercises using
 * PPG", IEEE TBME 2017), weighted by how much the wrist moves.
 */

/** Transform length: the window padded to twice, bins of 3.75 bpm under a main lobe of 30 bpm. */
const LENGTH: i32 = 512;
/** Bins kept: 0.44 to 8 Hz. */
export const FIRST_BIN: i32 = 7;
export const BINS: i32 = 129;
/** Hz per bin. */
export const BIN_HZ: f32 = <f32>SLOW_HZ / <f32>LENGTH;

/** Weight of the accelerometer's lines against the pulse's, both scaled to a maximum of one. */
const NOISE_GAIN: f32 = 10;
/** Standard deviation of the acceleration, in g, from which the wrist counts as moving. */
const MOTION_G: f64 = 0.03;
/** Share of the last step's spectra in the filter (not in what it filters): 1 s of memory. */
const MEMORY: f32 = 0.5;

const HANN: usize = TABLES + TWIDDLES_BYTES; // WINDOW x f32

// State, offsets from HR_PPG_STATE; tracker's state lies behind.
const LIGHT_MEAN: usize = HR_PPG_STATE + 64; // BINS x f32
const AXIS_MEAN: usize = HR_PPG_STATE + 640; // BINS x f32
const WARM: usize = HR_PPG_STATE + 16; // i32, the means hold something

export function makeHann(): void {
  for (let i = 0; i < WINDOW; i++) {
    const phase = (2 * Math.PI * (<f64>i + 0.5)) / <f64>WINDOW;
    store<f32>(HANN + (<usize>i << 2), <f32>(0.5 - 0.5 * Math.cos(phase)));
  }
}

/** Forgets the running means. */
export function resetSpectrum(slot: usize): void {
  store<i32>(slot + WARM, 0);
}

/**
 * Writes PULSE, BINS of power at multiples of BIN_HZ.
 * @param moving whether AXES are loaded
 * @returns the motion in [0, 1], or -1 where no light varies
 */
export function pulseSpectrum(slot: usize, moving: bool): f32 {
  const motion: f32 = moving ? motionOf() : 0;
  powers(LIGHTS, LIGHT_POWER);
  if (!combine(LIGHT_POWER, motion, PULSE, lightMask())) return -1;
  if (moving) {
    powers(AXES, AXIS_POWER);
    // Too few bins to matter where an axis is flat: its lane is all zero.
    combine(AXIS_POWER, motion, AXIS_POWER, i32x4(-1, -1, -1, 0));
    clean(slot, motion);
  }
  return motion;
}

/** Share of the acceleration that is motion: variance against gravity (the mean vector), in [0, 1]. */
function motionOf(): f32 {
  let gravity: f64 = 0;
  for (let lane = 0; lane < 3; lane++) gravity += load<f64>(MEANS + (<usize>lane << 3)) ** 2;
  let power = f32x4.splat(0);
  for (let i: usize = 0; i < WINDOW_BYTES; i += 16) {
    const v = v128.load(AXES + i);
    power = f32x4.add(power, f32x4.mul(v, v));
  }
  const variance = <f64>sumLanes(power) / <f64>WINDOW / (gravity + 1e-30);
  return <f32>(variance / (variance + MOTION_G * MOTION_G));
}

function sumLanes(v: v128): f32 {
  return (
    f32x4.extract_lane(v, 0) + f32x4.extract_lane(v, 1) + f32x4.extract_lane(v, 2) + f32x4.extract_lane(v, 3)
  );
}

/** Lanes whose light has data, all bits set. */
function lightMask(): v128 {
  return i32x4.ge_s(v128.load(HELD), i32x4.splat(LEAST_HELD));
}

/** Power spectra under a Hann window, BINS vectors. */
function powers(x: usize, to: usize): void {
  for (let i = 0; i < WINDOW; i++) {
    const w = v128.load32_splat(HANN + (<usize>i << 2));
    v128.store(FFT_IN + (<usize>i << 4), f32x4.mul(v128.load(x + (<usize>i << 4)), w));
  }
  memory.fill(FFT_IN + WINDOW_BYTES, 0, WINDOW_BYTES);
  realFft4(FFT_IN, FFT_WORK, LENGTH, BINS, FFT_OUT);
  for (let k = 0; k < BINS; k++) {
    const re = v128.load(FFT_OUT + (<usize>k << 5));
    const im = v128.load(FFT_OUT + (<usize>k << 5), 16);
    v128.store(to + (<usize>k << 4), f32x4.add(f32x4.mul(re, re), f32x4.mul(im, im)));
  }
}

/** At rest the power is weighted by f, which takes the slow baseline down; in motion, where high lines are noise, not. */
// @ts-ignore: decorator
@inline
function emphasis(k: i32, motion: f32): f32 {
  return motion + (1 - motion) * BIN_HZ * <f32>k;
}

/** Mean over the lanes of `mask` of their spectra, each scaled to a maximum of one; false where all are flat. */
function combine(from: usize, motion: f32, to: usize, mask: v128): bool {
  let most = f32x4.splat(0);
  for (let k = FIRST_BIN; k < BINS; k++) {
    most = f32x4.max(most, f32x4.mul(v128.load(from + (<usize>k << 4)), f32x4.splat(emphasis(k, motion))));
  }
  const used = v128.and(mask, f32x4.gt(most, f32x4.splat(1e-30)));
  const scale = v128.and(used, f32x4.div(f32x4.splat(1), f32x4.add(most, f32x4.splat(1e-30))));
  const lanes = popcnt(i32x4.bitmask(used));
  for (let k = 0; k < BINS; k++) {
    const v = f32x4.mul(v128.load(from + (<usize>k << 4)), scale);
    const mean = lanes ? sumLanes(v) / <f32>lanes : 0;
    store<f32>(to + (<usize>k << 2), k < FIRST_BIN ? 0 : mean * emphasis(k, motion));
  }
  return lanes > 0;
}

/** Weighs each bin of PULSE by pulse / (pulse + gain * acceleration), both smoothed in time. */
function clean(slot: usize, motion: f32): void {
  const old = load<i32>(slot + WARM) ? MEMORY : <f32>0;
  const gain = NOISE_GAIN * motion;
  store<i32>(slot + WARM, 1);
  for (let k: usize = 0; k < <usize>BINS << 2; k += 4) {
    const pulse = load<f32>(PULSE + k);
    const p = old * load<f32>(slot + LIGHT_MEAN + k) + (1 - old) * pulse;
    const a = old * load<f32>(slot + AXIS_MEAN + k) + (1 - old) * load<f32>(AXIS_POWER + k);
    store<f32>(slot + LIGHT_MEAN + k, p);
    store<f32>(slot + AXIS_MEAN + k, a);
    store<f32>(PULSE + k, (pulse * p) / (p + gain * a + 1e-9));
  }
}
