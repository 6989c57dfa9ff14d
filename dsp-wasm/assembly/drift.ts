import { SCRATCH } from './layout';
import { SERIES } from './modulation';
import { clearVectors, sumLanes } from './window';

/**
 * Drift of the series, by discrete Legendre polynomials (least squares over equally spaced points; each follows from the
 * two before it). All four lanes at once.
 */

// Scratch: polynomials, f32 a point; over rows that are used up when series are there.
const BEFORE: usize = SCRATCH + 0x1000;
const NOW: usize = SCRATCH + 0x1200;

/** No drift is that polynomial alone: a breath smaller than this part of it cannot be told from the rest. */
const ROUGHNESS: f32 = 0.05;

/**
 * Takes the polynomial of that degree off the first `n` points of the four SERIES, but for their mean, which the spectrum
 * takes off.
 * @returns standard deviation of what the drift may leave behind, by lane
 */
export function removeDrift(n: i32, degree: i32): v128 {
  let taken = f32x4.splat(0);
  const vectors = (n + 3) >> 2; // the last one may reach past n, where all polynomials are 0
  clearVectors(BEFORE, vectors);
  clearVectors(NOW, vectors);
  for (let i = 0; i < n; i++) store<f32>(NOW + (<usize>i << 2), 1);
  let ratio: f32 = 0;
  let norm: f32 = <f32>n;
  for (let d = 1; d <= degree; d++) {
    const next = raiseDegree(n, ratio);
    ratio = next / norm;
    norm = next;
    taken = f32x4.add(taken, removePolynomial(n, norm));
  }
  return f32x4.mul(f32x4.sqrt(f32x4.mul(taken, f32x4.splat(<f32>1 / <f32>n))), f32x4.splat(ROUGHNESS));
}

/** NOW becomes u x NOW - ratio x BEFORE, u from -1 to 1, and BEFORE what NOW was; returns the sum of its squares. */
function raiseDegree(n: i32, ratio: f32): f32 {
  let norm = f32x4.splat(0);
  const step = f32x4.splat(<f32>8 / <f32>n);
  let u = f32x4.sub(f32x4.div(f32x4(1, 3, 5, 7), f32x4.splat(<f32>n)), f32x4.splat(1));
  for (let at: usize = 0; at < <usize>n << 2; at += 16) {
    const now = v128.load(NOW + at);
    const next = f32x4.sub(f32x4.mul(u, now), f32x4.mul(f32x4.splat(ratio), v128.load(BEFORE + at)));
    v128.store(BEFORE + at, now);
    v128.store(NOW + at, next);
    norm = f32x4.add(norm, f32x4.mul(next, next));
    u = f32x4.add(u, step);
  }
  return sumLanes(norm);
}

/** Takes what the polynomial in NOW explains off the series; returns the sums of its squares. */
function removePolynomial(n: i32, norm: f32): v128 {
  // Two points at once, as sums wait for each other (n is even)
  let even = f32x4.splat(0);
  let odd = even;
  for (let i: usize = 0; i < <usize>n; i += 2) {
    even = f32x4.add(even, f32x4.mul(v128.load(SERIES + (i << 4)), v128.load32_splat(NOW + (i << 2))));
    odd = f32x4.add(odd, f32x4.mul(v128.load(SERIES + (i << 4), 16), v128.load32_splat(NOW + (i << 2), 4)));
  }
  const product = f32x4.add(even, odd);
  const weight = f32x4.mul(product, f32x4.splat(<f32>1 / norm));
  for (let i = 0; i < n; i++) {
    const at = SERIES + (<usize>i << 4);
    const now = v128.load32_splat(NOW + (<usize>i << 2));
    v128.store(at, f32x4.sub(v128.load(at), f32x4.mul(weight, now)));
  }
  return f32x4.mul(weight, product);
}
