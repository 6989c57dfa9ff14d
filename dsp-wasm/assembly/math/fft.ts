/**
 * Real FFT of four signals at once, one per f32x4 lane: a complex FFT of half the length over pairs of samples (Stockham's
 * autosort form, radix 4, so no bit reversal and no shuffles; van Loan 1992, 1.7 and 2.4), then the split into the spectrum
 * of real input (Press et al., Numerical Recipes, 12.3).
 */

/** Longest transform. */
export const FFT_MAX: i32 = 1024;
/** cos and -sin of 2 pi k / FFT_MAX, f32 pairs. */
const TWIDDLES: usize = memory.data(FFT_MAX * 8, 16);

function makeTwiddles(): void {
  for (let k = 0; k < FFT_MAX; k++) {
    const angle = (2 * Math.PI * <f64>k) / <f64>FFT_MAX;
    store<f32>(TWIDDLES + ((<usize>k) << 3), <f32>Math.cos(angle));
    store<f32>(TWIDDLES + ((<usize>k) << 3), <f32>-Math.sin(angle), 4);
  }
}
makeTwiddles();

/** Cosine of 2 pi k / FFT_MAX. */
export function turnCos(k: i32): f32 {
  return load<f32>(TWIDDLES + ((<usize>(k & (FFT_MAX - 1))) << 3));
}

/** Sine of 2 pi k / FFT_MAX. */
export function turnSin(k: i32): f32 {
  return -load<f32>(TWIDDLES + ((<usize>(k & (FFT_MAX - 1))) << 3), 4);
}

/**
 * @param x `n` samples of four lanes (16 n bytes); destroyed
 * @param work 16 n bytes
 * @param n power of two, 8 to FFT_MAX
 * @param bins number of bins to write, at most n / 2
 * @param to bins of (re, im), two vectors each; bin 0 holds the mean times n
 */
export function realFft4(x: usize, work: usize, n: i32, bins: i32, to: usize): void {
  split(complexFft4(x, work, n >> 1, 1), n, bins, to);
}

/** The same for n / 2 samples, padded with zeros (which need not be in memory). */
export function paddedFft4(x: usize, work: usize, n: i32, bins: i32, to: usize): void {
  const half = n >> 1;
  radix4Padded(x, work, half);
  split(complexFft4(work, x, half, 4), n, bins, to);
}

/**
 * Transforms n complex values (re, im vectors). The result is in `x` or in `work`, whichever is returned.
 * @param done 1, or 4 if the first pass is done
 */
function complexFft4(x: usize, work: usize, n: i32, done: i32): usize {
  let from = x;
  let to = work;
  let stride = done;
  let left = n / done;
  while (left > 2) {
    radix4(from, to, left, stride);
    left >>= 2;
    stride <<= 2;
    const swap = from;
    from = to;
    to = swap;
  }
  if (left === 1) return from;
  radix2(from, to, stride);
  return to;
}

/** One pass over `n * stride` values: radix-4 butterflies of values that are n / 4 strides apart. */
function radix4(from: usize, to: usize, n: i32, stride: i32): void {
  const quarter = n >> 2;
  const step = (<usize>(FFT_MAX / n)) << 3;
  const apart = (<usize>(stride * quarter)) << 5;
  const next = (<usize>stride) << 5;
  radix4Still(from, to, apart, next);
  for (let p = 1; p < quarter; p++) {
    const w = TWIDDLES + <usize>p * step;
    const c1 = v128.load32_splat(w);
    const s1 = v128.load32_splat(w, 4);
    const w2 = TWIDDLES + <usize>(2 * p) * step;
    const c2 = v128.load32_splat(w2);
    const s2 = v128.load32_splat(w2, 4);
    const w3 = TWIDDLES + <usize>(3 * p) * step;
    const c3 = v128.load32_splat(w3);
    const s3 = v128.load32_splat(w3, 4);
    let a = from + <usize>p * next;
    let y = to + <usize>(4 * p) * next;
    const end = a + next;
    while (a < end) {
      const b = a + apart;
      const c = b + apart;
      const d = c + apart;
      const aRe = v128.load(a);
      const aIm = v128.load(a, 16);
      const bRe = v128.load(b);
      const bIm = v128.load(b, 16);
      const cRe = v128.load(c);
      const cIm = v128.load(c, 16);
      const dRe = v128.load(d);
      const dIm = v128.load(d, 16);
      const apcRe = f32x4.add(aRe, cRe);
      const apcIm = f32x4.add(aIm, cIm);
      const amcRe = f32x4.sub(aRe, cRe);
      const amcIm = f32x4.sub(aIm, cIm);
      const bpdRe = f32x4.add(bRe, dRe);
      const bpdIm = f32x4.add(bIm, dIm);
      const bmdRe = f32x4.sub(bRe, dRe);
      const bmdIm = f32x4.sub(bIm, dIm);
      v128.store(y, f32x4.add(apcRe, bpdRe));
      v128.store(y, f32x4.add(apcIm, bpdIm), 16);
      // times -i: (re, im) becomes (im, -re)
      rotate(y + next, f32x4.add(amcRe, bmdIm), f32x4.sub(amcIm, bmdRe), c1, s1);
      rotate(y + 2 * next, f32x4.sub(apcRe, bpdRe), f32x4.sub(apcIm, bpdIm), c2, s2);
      rotate(y + 3 * next, f32x4.sub(amcRe, bmdIm), f32x4.add(amcIm, bmdRe), c3, s3);
      a += 32;
      y += 32;
    }
  }
}

/** The butterflies of a pass that need no rotation; in the last pass these are all of them. */
function radix4Still(from: usize, to: usize, apart: usize, next: usize): void {
  for (let i: usize = 0; i < next; i += 32) {
    const a = from + i;
    const b = a + apart;
    const c = b + apart;
    const d = c + apart;
    const apcRe = f32x4.add(v128.load(a), v128.load(c));
    const apcIm = f32x4.add(v128.load(a, 16), v128.load(c, 16));
    const amcRe = f32x4.sub(v128.load(a), v128.load(c));
    const amcIm = f32x4.sub(v128.load(a, 16), v128.load(c, 16));
    const bpdRe = f32x4.add(v128.load(b), v128.load(d));
    const bpdIm = f32x4.add(v128.load(b, 16), v128.load(d, 16));
    const bmdRe = f32x4.sub(v128.load(b), v128.load(d));
    const bmdIm = f32x4.sub(v128.load(b, 16), v128.load(d, 16));
    const y = to + i;
    v128.store(y, f32x4.add(apcRe, bpdRe));
    v128.store(y, f32x4.add(apcIm, bpdIm), 16);
    v128.store(y + next, f32x4.add(amcRe, bmdIm));
    v128.store(y + next, f32x4.sub(amcIm, bmdRe), 16);
    v128.store(y + 2 * next, f32x4.sub(apcRe, bpdRe));
    v128.store(y + 2 * next, f32x4.sub(apcIm, bpdIm), 16);
    v128.store(y + 3 * next, f32x4.sub(amcRe, bmdIm));
    v128.store(y + 3 * next, f32x4.add(amcIm, bmdRe), 16);
  }
}

/** The first pass if the second half of the values is zero. */
function radix4Padded(from: usize, to: usize, n: i32): void {
  const quarter = n >> 2;
  const step = (<usize>(FFT_MAX / n)) << 3;
  const apart = (<usize>quarter) << 5;
  for (let p: usize = 0; p < <usize>quarter; p++) {
    const w = TWIDDLES + p * step;
    const w2 = TWIDDLES + 2 * p * step;
    const w3 = TWIDDLES + 3 * p * step;
    const x = from + (p << 5);
    const aRe = v128.load(x);
    const aIm = v128.load(x, 16);
    const bRe = v128.load(x + apart);
    const bIm = v128.load(x + apart, 16);
    const y = to + (p << 7);
    v128.store(y, f32x4.add(aRe, bRe));
    v128.store(y, f32x4.add(aIm, bIm), 16);
    const add = f32x4.add(aRe, bIm);
    const sub = f32x4.sub(aRe, bIm);
    rotate(y + 32, add, f32x4.sub(aIm, bRe), v128.load32_splat(w), v128.load32_splat(w, 4));
    rotate(y + 64, f32x4.sub(aRe, bRe), f32x4.sub(aIm, bIm), v128.load32_splat(w2), v128.load32_splat(w2, 4));
    rotate(y + 96, sub, f32x4.add(aIm, bRe), v128.load32_splat(w3), v128.load32_splat(w3, 4));
  }
}

/** Stores (re, im) times (c, s). */
function rotate(y: usize, re: v128, im: v128, c: v128, s: v128): void {
  v128.store(y, f32x4.sub(f32x4.mul(re, c), f32x4.mul(im, s)));
  v128.store(y, f32x4.add(f32x4.mul(re, s), f32x4.mul(im, c)), 16);
}

function radix2(from: usize, to: usize, stride: i32): void {
  const half = (<usize>stride) << 5;
  for (let i: usize = 0; i < half; i += 16) {
    const a = v128.load(from + i);
    const b = v128.load(from + half + i);
    v128.store(to + i, f32x4.add(a, b));
    v128.store(to + half + i, f32x4.sub(a, b));
  }
}

/** Spectrum of `n` real values from the transform `z` of their pairs. */
function split(z: usize, n: i32, bins: i32, to: usize): void {
  const half = n >> 1;
  const step = (<usize>(FFT_MAX / n)) << 3;
  const h = f32x4.splat(0.5);
  for (let k = 0; k < bins; k++) {
    const a = z + ((<usize>k) << 5);
    const b = z + ((<usize>((half - k) & (half - 1))) << 5);
    const aRe = v128.load(a);
    const aIm = v128.load(a, 16);
    const bRe = v128.load(b);
    const bIm = v128.load(b, 16);
    const evenRe = f32x4.mul(f32x4.add(aRe, bRe), h);
    const evenIm = f32x4.mul(f32x4.sub(aIm, bIm), h);
    // odd part times -i
    const oddRe = f32x4.mul(f32x4.add(aIm, bIm), h);
    const oddIm = f32x4.mul(f32x4.sub(bRe, aRe), h);
    const c = v128.load32_splat(TWIDDLES + <usize>k * step);
    const s = v128.load32_splat(TWIDDLES + <usize>k * step, 4);
    const y = to + ((<usize>k) << 5);
    v128.store(y, f32x4.add(evenRe, f32x4.sub(f32x4.mul(oddRe, c), f32x4.mul(oddIm, s))));
    v128.store(y, f32x4.add(evenIm, f32x4.add(f32x4.mul(oddRe, s), f32x4.mul(oddIm, c))), 16);
  }
}
