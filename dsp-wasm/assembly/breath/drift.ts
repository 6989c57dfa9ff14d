import { clearVectors, sumLanes } from '../math/vector';
import { LOWER, POLYNOMIAL, SERIES } from './scratch';

/**
 * Drift of the series, by discrete Legendre polynomials (least squares over equally spaced points; each follows from the
 * two before it). All four lanes at once.
 */

/**
 * Subtracts the polynomial of the given degree from the first `n` points of the four SERIES, except for their mean, which the
 * spectrum subtracts.
 * @returns standard deviation of the drift, by lane
 */
export function removeDrift(n: i32, degree: i32): v128 {
  let taken = f32x4.splat(0);
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
    taken = f32x4.add(taken, removePolynomial(n, norm));
  }
  return f32x4.sqrt(f32x4.mul(taken, f32x4.splat(<f32>1 / <f32>n)));
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
function removePolynomial(n: i32, norm: f32): v128 {
  // Two points at a time, because sums wait for each other (n is even)
  let even = f32x4.splat(0);
  let odd = even;
  for (let i = 0; i < n; i += 2) {
    even = f32x4.add(even, f32x4.mul(SERIES[i], v128.load32_splat(POLYNOMIAL.at(i))));
    odd = f32x4.add(odd, f32x4.mul(SERIES[i + 1], v128.load32_splat(POLYNOMIAL.at(i + 1))));
  }
  const product = f32x4.add(even, odd);
  const weight = f32x4.mul(product, f32x4.splat(<f32>1 / norm));
  for (let i = 0; i < n; i++) {
    SERIES[i] = f32x4.sub(SERIES[i], f32x4.mul(weight, v128.load32_splat(POLYNOMIAL.at(i))));
  }
  return f32x4.mul(weight, product);
}
