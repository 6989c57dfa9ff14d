import { paddedFft4 } from './fft';
import { SCRATCH } from './layout';
import { SERIES } from './modulation';

/** Points of a series, 32 s at 4 Hz; twice as many with the zeros that make bins of 0.9375 per minute. */
export const POINTS: i32 = 128;
const LENGTH: i32 = 2 * POINTS;

// Scratch, after modulation.ts.
const WORK: usize = SCRATCH + 0xb000; // LENGTH x four lanes
const BINS: usize = SCRATCH + 0xc000; // POINTS x (re, im) x four lanes
/** POINTS bins of power, four lanes. */
export const POWER: usize = SCRATCH + 0xd000;

/**
 * Takes the mean off the first `n` points of the four SERIES, weighs them by a Hann window, and writes POWER. SERIES
 * is used up.
 * @param resolution standard deviation of the white noise that is added to the power, so that a line below it is no
 * line
 */
export function seriesSpectra(n: i32, resolution: v128): void {
  takeMean(n);
  weighByHann(n);
  memory.fill(SERIES + (<usize>n << 4), 0, <usize>(POINTS - n) << 4);
  paddedFft4(SERIES, WORK, LENGTH, POINTS, BINS);
  // 3/8 is the mean square of the window
  const floor = f32x4.mul(f32x4.splat(<f32>0.375 * <f32>n), f32x4.mul(resolution, resolution));
  for (let k = 0; k < POINTS; k++) {
    const re = v128.load(BINS + (<usize>k << 5));
    const im = v128.load(BINS + (<usize>k << 5), 16);
    v128.store(POWER + (<usize>k << 4), f32x4.add(floor, f32x4.add(f32x4.mul(re, re), f32x4.mul(im, im))));
  }
}

function takeMean(n: i32): void {
  let even = f32x4.splat(0);
  let odd = even;
  for (let i: usize = 0; i < <usize>n << 4; i += 32) {
    even = f32x4.add(even, v128.load(SERIES + i));
    odd = f32x4.add(odd, v128.load(SERIES + i, 16));
  }
  const mean = f32x4.mul(f32x4.add(even, odd), f32x4.splat(<f32>1 / <f32>n));
  for (let i: usize = 0; i < <usize>n << 4; i += 16) {
    v128.store(SERIES + i, f32x4.sub(v128.load(SERIES + i), mean));
  }
}

/**
 * Weights sin²(pi (i + 1/2) / n): the length varies while the first window fills, so the cosine is turned step by
 * step, over one half (`n` is even) for both.
 */
function weighByHann(n: i32): void {
  const turn = (2 * Math.PI) / <f64>n;
  const turnCos = Math.cos(turn);
  const turnSin = Math.sin(turn);
  let c = Math.cos(0.5 * turn);
  let s = Math.sin(0.5 * turn);
  const last = SERIES + (<usize>(n - 1) << 4);
  for (let i: usize = 0; i < <usize>n << 3; i += 16) {
    const w = f32x4.splat(<f32>(0.5 - 0.5 * c));
    v128.store(SERIES + i, f32x4.mul(v128.load(SERIES + i), w));
    v128.store(last - i, f32x4.mul(v128.load(last - i), w));
    const next = c * turnCos - s * turnSin;
    s = s * turnCos + c * turnSin;
    c = next;
  }
}
