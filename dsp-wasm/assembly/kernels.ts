/** The core with its kernels laid open, for tests and benchmarks. Arrays are passed at SCRATCH. */
import { paddedFft4, realFft4 } from './fft';
import { biquad8 } from './filter';
import { SCRATCH } from './layout';
import { channelOf, slotOf } from './session';
import { cellsAt, copyCells } from './window';

export * from './core';
export { SCRATCH } from './layout';

/** Copies cells that are complete by `end` (seconds) to SCRATCH (f32, NaN: empty); returns how many hold a value. */
export function cells(index: i32, channel: i32, sub: i32, from: i32, count: i32, end: f64): i32 {
  const at = channelOf(slotOf(index), channel);
  return at ? copyCells(at, sub, from, count, cellsAt(at, end), SCRATCH) : 0;
}

/** Real FFT of the four signals at SCRATCH (n x f32x4); returns the address of its n / 2 bins. */
export function fft4(n: i32): usize {
  const work = SCRATCH + (<usize>n << 4);
  const to = work + (<usize>n << 4);
  realFft4(SCRATCH, work, n, n >> 1, to);
  return to;
}

/** The same of n / 2 samples, continued by zeros. */
export function padded4(n: i32): usize {
  const work = SCRATCH + (<usize>n << 4);
  const to = work + (<usize>n << 4);
  paddedFft4(SCRATCH, work, n, n >> 1, to);
  return to;
}

/** Filters, in place, the eight signals at SCRATCH + 96, with the coefficients and the state before them. */
export function filter8(count: i32): void {
  biquad8(SCRATCH + 96, count, SCRATCH, SCRATCH + 32);
}
