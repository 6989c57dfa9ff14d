import { sessionAt } from './core';
import { completeBy, copyGrid } from './grid/window';
import { Biquad, BiquadState, biquad8 } from './math/biquad';
import { paddedFft4, realFft4 } from './math/fft';
import { SCRATCH } from './memory/map';
import { channelOf } from './memory/session';
import { TRAITS } from './pulse/candidates';

/**
 * The module: the core, and those of its kernels that tests, benchmarks and the fit call alone. A module without them would be as
 * fast, and 1 % smaller. Arrays are passed at SCRATCH.
 */

export * from './core';
export { SCRATCH } from './memory/map';
export { motionWeights } from './pulse/candidates';

/** Copies grid samples that are complete by `end` (seconds) to SCRATCH (f32, NaN: empty); returns the number with a value. */
export function grid(index: i32, channel: i32, sub: i32, from: i32, count: i32, end: f64): i32 {
  const at = channelOf(sessionAt(index), channel);
  return at ? copyGrid(at, sub, from, count, completeBy(at, end), SCRATCH) : 0;
}

/** Real FFT of the four signals at SCRATCH (n x f32x4), or of n / 2 samples of each that are padded with zeros; returns the address of its n / 2 bins. */
export function fft4(n: i32, padded: bool): usize {
  const work = SCRATCH + ((<usize>n) << 4);
  const to = work + ((<usize>n) << 4);
  if (padded) paddedFft4(SCRATCH, work, n, n >> 1, to);
  else realFft4(SCRATCH, work, n, n >> 1, to);
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
