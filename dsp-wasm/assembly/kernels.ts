import { completeBy, copyGrid } from './grid/window';
import { Biquad, BiquadState, biquad8 } from './math/biquad';
import { paddedFft4, realFft4 } from './math/fft';
import { SCRATCH } from './memory/map';
import { channelOf, sessionAt } from './memory/session';
import { TRAITS } from './pulse/candidates';

/** The core with its internal kernels exported, for tests and benchmarks. Arrays are passed at SCRATCH. */

export { BEATS_SCRATCH_END } from './beats/scratch';
export { BREATH_SCRATCH_END } from './breath/scratch';
export * from './core';
export { ECG_SCRATCH_END } from './ecg/scratch';
export { BEATS_STATE_BYTES } from './memory/beats_state';
export { BREATH_STATE_BYTES } from './memory/breath_state';
export { CHANNEL_BYTES } from './memory/channel';
export { ECG_STATE_BYTES } from './memory/ecg_state';
export {
  DECODED,
  DECODED_BYTES,
  FEATURES_BYTES,
  LANE_COUNTS,
  LANE_COUNTS_BYTES,
  PUSH,
  PUSH_BYTES,
  REQUEST_BYTES,
  RESAMPLED,
  RESAMPLED_BYTES,
  RESULT_BYTES,
  SCRATCH,
  SCRATCH_BYTES,
} from './memory/map';
export { PULSE_STATE_BYTES } from './memory/pulse_state';
export {
  ACTIVITY_BYTES,
  MAX_CHANNELS,
  POOL_BYTES,
  SLOT_ACTIVITY,
  SLOT_BEATS,
  SLOT_BREATH,
  SLOT_CHANNELS,
  SLOT_ECG,
  SLOT_POOL,
  SLOT_PULSE,
  SLOT_SPO2,
} from './memory/session';
export { SPO2_STATE_BYTES } from './memory/spo2_state';
export { motionWeights } from './pulse/candidates';

/** End of the compiler's own data. */
export function dataEnd(): usize {
  return __data_end;
}

/** Copies grid samples that are complete by `end` (seconds) to SCRATCH (f32, NaN: empty); returns the number with a value. */
export function grid(index: i32, channel: i32, sub: i32, from: i32, count: i32, end: f64): i32 {
  const at = channelOf(sessionAt(index), channel);
  return at ? copyGrid(at, sub, from, count, completeBy(at, end), SCRATCH) : 0;
}

/** Real FFT of the four signals at SCRATCH (n x f32x4); returns the address of its n / 2 bins. */
export function fft4(n: i32): usize {
  const work = SCRATCH + ((<usize>n) << 4);
  const to = work + ((<usize>n) << 4);
  realFft4(SCRATCH, work, n, n >> 1, to);
  return to;
}

/** The same for n / 2 samples, padded with zeros. */
export function padded4(n: i32): usize {
  const work = SCRATCH + ((<usize>n) << 4);
  const to = work + ((<usize>n) << 4);
  paddedFft4(SCRATCH, work, n, n >> 1, to);
  return to;
}

/** Filters, in place, the eight signals at SCRATCH + 96, with the coefficients at SCRATCH and the state after them. */
export function filter8(count: i32): void {
  biquad8(SCRATCH + 96, count, changetype<Biquad>(SCRATCH), changetype<BiquadState>(SCRATCH + 32));
}

/** Address of the traits of the heart rates that were compared last. */
export function traits(): usize {
  return TRAITS.at(0);
}
