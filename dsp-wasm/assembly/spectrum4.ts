import { TABLES } from './layout';

/**
 * Power spectra of four short series at once, one in each lane: 128 points, padded to 256, by a complex transform of half the
 * length (Numerical Recipes, section 12.3) in plain radix 2, decimation in frequency.
 */

/** Points of a series; bins of its spectrum. */
export const POINTS: i32 = 128;

const HALF: i32 = 128; // length of the complex transform
/** cos and sin of 2 pi k / 256, k < 128: in the last 4 KiB of the tables, which breath.ts shares. */
const COSINE: usize = TABLES + 0xf000;
const SINE: usize = TABLES + 0xf200;
let ready: bool = false;

function makeTables(): void {
  for (let k = 0; k < HALF; k++) {
    const angle = (Math.PI * <f64>k) / <f64>HALF;
    store<f32>(COSINE + (<usize>k << 2), <f32>Math.cos(angle));
    store<f32>(SINE + (<usize>k << 2), <f32>Math.sin(angle));
  }
  ready = true;
}

/**
 * Takes the mean off the first `n` points (even, at most POINTS) of the series, weighs them by a Hann window, and writes the
 * power of bins 0 to 127 (multiples of 1/256 of the sampling rate) to `power`. The scale is left open.
 * @param series n x four lanes; used up
 * @param work room for 2 x 128 x four lanes
 */
export function powerSpectra(series: usize, n: i32, work: usize, power: usize): void {
  if (!ready) makeTables();
  window(series, n);
  pack(series, n, work);
  transform(work);
  unpack(work, power);
}

function window(series: usize, n: i32): void {
  let sum = f32x4.splat(0);
  for (let i: usize = 0; i < <usize>n << 4; i += 16) sum = f32x4.add(sum, v128.load(series + i));
  const mean = f32x4.mul(sum, f32x4.splat(1 / <f32>n));
  // sin²(pi (i + 1/2) / n), by rotation
  const turn = (2 * Math.PI) / <f64>n;
  const turnCos = Math.cos(turn);
  const turnSin = Math.sin(turn);
  let c = Math.cos(0.5 * turn);
  let s = Math.sin(0.5 * turn);
  for (let i: usize = 0; i < <usize>n << 4; i += 16) {
    const weight = f32x4.splat(<f32>(0.5 - 0.5 * c));
    v128.store(series + i, f32x4.mul(f32x4.sub(v128.load(series + i), mean), weight));
    const next = c * turnCos - s * turnSin;
    s = s * turnCos + c * turnSin;
    c = next;
  }
}

/** Even points become the real parts, odd ones the imaginary parts. */
function pack(series: usize, n: i32, work: usize): void {
  memory.copy(work, series, <usize>n << 4);
  memory.fill(work + (<usize>n << 4), 0, <usize>(2 * HALF - n) << 4);
}

function transform(z: usize): void {
  for (let half = HALF >> 1; half > 0; half >>= 1) {
    const step = <usize>(HALF / half) << 2;
    for (let k = 0; k < half; k++) {
      const c = v128.load32_splat(COSINE + <usize>k * step);
      const s = v128.load32_splat(SINE + <usize>k * step);
      for (let start = k; start < HALF; start += 2 * half) butterfly(z + (<usize>start << 5), <usize>half << 5, c, s);
    }
  }
}

/** (a, b) becomes (a + b, (a - b) (c - i s)). */
// @ts-ignore: decorator
@inline
function butterfly(a: usize, apart: usize, c: v128, s: v128): void {
  const re = v128.load(a);
  const im = v128.load(a, 16);
  const b = a + apart;
  const bRe = v128.load(b);
  const bIm = v128.load(b, 16);
  const dRe = f32x4.sub(re, bRe);
  const dIm = f32x4.sub(im, bIm);
  v128.store(a, f32x4.add(re, bRe));
  v128.store(a, f32x4.add(im, bIm), 16);
  v128.store(b, f32x4.add(f32x4.mul(dRe, c), f32x4.mul(dIm, s)));
  v128.store(b, f32x4.sub(f32x4.mul(dIm, c), f32x4.mul(dRe, s)), 16);
}

/** Separates the transforms E of the even and O of the odd points (both doubled): X = E + e^(-2 pi i k / 256) O. */
function unpack(z: usize, power: usize): void {
  for (let k = 0; k < HALF; k++) {
    const a = z + (<usize>reversed(k) << 5);
    const b = z + (<usize>reversed((HALF - k) & (HALF - 1)) << 5);
    const c = v128.load32_splat(COSINE + (<usize>k << 2));
    const s = v128.load32_splat(SINE + (<usize>k << 2));
    const evenRe = f32x4.add(v128.load(a), v128.load(b));
    const evenIm = f32x4.sub(v128.load(a, 16), v128.load(b, 16));
    const oddRe = f32x4.add(v128.load(a, 16), v128.load(b, 16));
    const oddIm = f32x4.sub(v128.load(b), v128.load(a));
    const re = f32x4.add(evenRe, f32x4.add(f32x4.mul(c, oddRe), f32x4.mul(s, oddIm)));
    const im = f32x4.add(evenIm, f32x4.sub(f32x4.mul(c, oddIm), f32x4.mul(s, oddRe)));
    v128.store(power + (<usize>k << 4), f32x4.add(f32x4.mul(re, re), f32x4.mul(im, im)));
  }
}

/** The seven bits of k in reverse. */
// @ts-ignore: decorator
@inline
function reversed(k: i32): i32 {
  const outer = ((k & 1) << 6) | ((k & 2) << 4) | ((k & 32) >> 4) | ((k & 64) >> 6);
  return outer | ((k & 4) << 2) | (k & 8) | ((k & 16) >> 2);
}
