import { paddedFft4 } from '../math/fft';
import { clearVectors, sumLanes } from '../math/vector';
import { Row } from '../memory/row';
import { BELOW, FFT_OUT, FFT_WORK, LOWER, POINTS, POLYNOMIAL, POWER, Series, SHARE, WINDOWED } from './scratch';
import { spreadOf } from './source';
import { SPECTRUM } from './tuning';

/** Twice the points of a series: zeros are appended, so that bins are 0.9375 per minute apart. */
const LENGTH: i32 = 2 * POINTS;

/**
 * Subtracts from the four series their drift, the least-squares polynomial of that degree except for its mean: by discrete Legendre
 * polynomials, each of which follows from the two before it.
 * @returns standard deviation of the drift, by lane
 */
export function removeDrift(series: Series, degree: i32): v128 {
  const n = series.n;
  let removed = f32x4.splat(0);
  const vectors = (n + 3) >> 2; // the last one may extend beyond n, where all polynomials are 0
  clearVectors(LOWER.at(0), vectors);
  clearVectors(POLYNOMIAL.at(0), vectors);
  for (let i = 0; i < n; i++) POLYNOMIAL[i] = 1;
  let ratio: f32 = 0;
  let norm: f32 = <f32>n;
  for (let d = 1; d <= degree; d++) {
    const next = raiseDegree(n, ratio);
    ratio = next / norm;
    norm = next;
    removed = f32x4.add(removed, removePolynomial(series.points, n, norm));
  }
  return f32x4.sqrt(f32x4.mul(removed, f32x4.splat(<f32>1 / <f32>n)));
}

/** POLYNOMIAL becomes u x POLYNOMIAL - ratio x LOWER, u from -1 to 1, and LOWER the old POLYNOMIAL; returns the sum of squares of the new one. */
function raiseDegree(n: i32, ratio: f32): f32 {
  let norm = f32x4.splat(0);
  const step = f32x4.splat(<f32>8 / <f32>n);
  let u = f32x4.sub(f32x4.div(f32x4(1, 3, 5, 7), f32x4.splat(<f32>n)), f32x4.splat(1));
  for (let i = 0; i < n; i += 4) {
    const now = v128.load(POLYNOMIAL.at(i));
    const next = f32x4.sub(f32x4.mul(u, now), f32x4.mul(f32x4.splat(ratio), v128.load(LOWER.at(i))));
    v128.store(LOWER.at(i), now);
    v128.store(POLYNOMIAL.at(i), next);
    norm = f32x4.add(norm, f32x4.mul(next, next));
    u = f32x4.add(u, step);
  }
  return sumLanes(norm);
}

/** Subtracts the part of the series along the POLYNOMIAL; returns the sums of its squares. */
function removePolynomial(points: Row<v128>, n: i32, norm: f32): v128 {
  // Two points at a time, because sums wait for each other (n is even)
  let even = f32x4.splat(0);
  let odd = even;
  for (let i = 0; i < n; i += 2) {
    even = f32x4.add(even, f32x4.mul(points[i], v128.load32_splat(POLYNOMIAL.at(i))));
    odd = f32x4.add(odd, f32x4.mul(points[i + 1], v128.load32_splat(POLYNOMIAL.at(i + 1))));
  }
  const product = f32x4.add(even, odd);
  const weight = f32x4.mul(product, f32x4.splat(<f32>1 / norm));
  for (let i = 0; i < n; i++) points[i] = f32x4.sub(points[i], f32x4.mul(weight, v128.load32_splat(POLYNOMIAL.at(i))));
  return f32x4.mul(weight, product);
}

/**
 * Writes the POWER of the series without their means, under a Hann window.
 * @param floor standard deviation of the white noise that is added to the power, so that a weaker line does not count
 */
export function spectra(series: Series, floor: v128): void {
  const n = series.n;
  weighByHann(series.points, n);
  memory.fill(WINDOWED.at(n), 0, (<usize>(POINTS - n)) << 4);
  paddedFft4(WINDOWED.at(0), FFT_WORK.at(0), LENGTH, POINTS, FFT_OUT.at(0));
  // 3/8 is the mean square of the window
  const added = f32x4.mul(f32x4.splat(<f32>0.375 * <f32>n), f32x4.mul(floor, floor));
  for (let k = 0; k < POINTS; k++) {
    const re = FFT_OUT[2 * k];
    const im = FFT_OUT[2 * k + 1];
    POWER[k] = f32x4.add(added, f32x4.add(f32x4.mul(re, re), f32x4.mul(im, im)));
  }
}

/**
 * Weights sin²(pi (i + 1/2) / n): the length varies while the first window fills, so the cosine is turned step by
 * step, over one half (`n` is even) for both.
 */
function weighByHann(points: Row<v128>, n: i32): void {
  const mean = meanOf(points, n);
  const turn = (2 * Math.PI) / <f64>n;
  const turnCos = Math.cos(turn);
  const turnSin = Math.sin(turn);
  let c = Math.cos(0.5 * turn);
  let s = Math.sin(0.5 * turn);
  for (let i = 0; i < n / 2; i++) {
    const w = f32x4.splat(<f32>(0.5 - 0.5 * c));
    const j = n - 1 - i;
    WINDOWED[i] = f32x4.mul(f32x4.sub(points[i], mean), w);
    WINDOWED[j] = f32x4.mul(f32x4.sub(points[j], mean), w);
    const next = c * turnCos - s * turnSin;
    s = s * turnCos + c * turnSin;
    c = next;
  }
}

function meanOf(points: Row<v128>, n: i32): v128 {
  let even = f32x4.splat(0);
  let odd = even;
  for (let i = 0; i < n; i += 2) {
    even = f32x4.add(even, points[i]);
    odd = f32x4.add(odd, points[i + 1]);
  }
  return f32x4.mul(f32x4.add(even, odd), f32x4.splat(<f32>1 / <f32>n));
}

/**
 * Writes the SHARE of all power, levelled by the noise's steepness, that a breath of each bin's rate explains: a line, or the
 * band over which breaths of that rate spread.
 * @param n points of the series
 * @param last bin that counts
 * @param steepness of the noise in each lane, from 0 to 3: its power falls as frequency^-steepness
 * @returns lanes with a finite power above 0, all bits set
 */
export function explainedShares(n: i32, last: i32, steepness: v128): v128 {
  const w0 = nearness(steepness, 0);
  const w1 = nearness(steepness, 1);
  const w2 = nearness(steepness, 2);
  const w3 = nearness(steepness, 3);
  let total = f32x4.splat(0);
  BELOW[SPECTRUM.LOWEST_BIN] = total;
  for (let k = SPECTRUM.LOWEST_BIN; k <= last; k++) {
    const x = f32x4.splat(<f32>k / <f32>16);
    let level = f32x4.add(f32x4.mul(w3, x), w2); // about x^steepness: between its two neighbouring powers
    level = f32x4.add(f32x4.mul(level, x), w1);
    level = f32x4.add(f32x4.mul(level, x), w0);
    total = f32x4.add(total, f32x4.mul(POWER[k], level));
    BELOW[k + 1] = total;
  }
  const sound = v128.and(f32x4.gt(total, f32x4.splat(0)), f32x4.lt(total, f32x4.splat(Infinity)));
  // A line that explains everything holds n / 256 / 1.5 of all power in its highest bin (1.5 is the Hann window's width).
  const unit = f32x4.div(f32x4.splat(<f32>384 / <f32>n), total);
  for (let k = SPECTRUM.LOWEST_BIN; k <= last; k++) {
    const half = spreadOf(k);
    const from = max(SPECTRUM.LOWEST_BIN, k - half);
    const past = min(last, k + half) + 1;
    const band = f32x4.sub(BELOW[past], BELOW[from]);
    const width = half ? <f32>1 / SPECTRUM.LINE_BINS : <f32>1;
    SHARE[k] = v128.and(sound, f32x4.mul(f32x4.mul(band, unit), f32x4.splat(width)));
  }
  for (let k = last + 1; k < 2 * POINTS; k++) SHARE[k] = f32x4.splat(0);
  return sound;
}

/** 1 at that degree, 0 from one less and one more on. */
function nearness(steepness: v128, degree: f32): v128 {
  const distance = f32x4.abs(f32x4.sub(steepness, f32x4.splat(degree)));
  return f32x4.pmax(f32x4.splat(0), f32x4.sub(f32x4.splat(1), distance));
}

/** Mean amplitude of the bins [from, to] of POWER. */
export function meanAmplitude(from: i32, to: i32): v128 {
  let sum = f32x4.splat(0);
  for (let k = from; k <= to; k++) sum = f32x4.add(sum, f32x4.sqrt(POWER[k]));
  return f32x4.mul(sum, f32x4.splat(1 / <f32>(to - from + 1)));
}
