import { paddedFft4 } from '../math/fft';
import { FFT_OUT, FFT_WORK, POINTS, POWER, SERIES } from './scratch';

/** Twice the points of a series: zeros are appended, so that bins are 0.9375 per minute apart. */
const LENGTH: i32 = 2 * POINTS;

/**
 * Subtracts the mean from the first `n` points of the four SERIES, multiplies them by a Hann window, and writes POWER.
 * Destroys SERIES.
 * @param resolution standard deviation of the white noise that is added to the power, so that a weaker line does not count
 */
export function seriesSpectra(n: i32, resolution: v128): void {
  takeMean(n);
  weighByHann(n);
  memory.fill(SERIES.at(n), 0, (<usize>(POINTS - n)) << 4);
  paddedFft4(SERIES.at(0), FFT_WORK.at(0), LENGTH, POINTS, FFT_OUT.at(0));
  // 3/8 is the mean square of the window
  const floor = f32x4.mul(f32x4.splat(<f32>0.375 * <f32>n), f32x4.mul(resolution, resolution));
  for (let k = 0; k < POINTS; k++) {
    const re = FFT_OUT[2 * k];
    const im = FFT_OUT[2 * k + 1];
    POWER[k] = f32x4.add(floor, f32x4.add(f32x4.mul(re, re), f32x4.mul(im, im)));
  }
}

function takeMean(n: i32): void {
  let even = f32x4.splat(0);
  let odd = even;
  for (let i = 0; i < n; i += 2) {
    even = f32x4.add(even, SERIES[i]);
    odd = f32x4.add(odd, SERIES[i + 1]);
  }
  const mean = f32x4.mul(f32x4.add(even, odd), f32x4.splat(<f32>1 / <f32>n));
  for (let i = 0; i < n; i++) SERIES[i] = f32x4.sub(SERIES[i], mean);
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
  for (let i = 0; i < n / 2; i++) {
    const w = f32x4.splat(<f32>(0.5 - 0.5 * c));
    SERIES[i] = f32x4.mul(SERIES[i], w);
    SERIES[n - 1 - i] = f32x4.mul(SERIES[n - 1 - i], w);
    const next = c * turnCos - s * turnSin;
    s = s * turnCos + c * turnSin;
    c = next;
  }
}
