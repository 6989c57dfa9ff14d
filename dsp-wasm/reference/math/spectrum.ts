/** The discrete Fourier transform by its definition: bins 0 ... count - 1 of `x`. */
export function dft(x: readonly number[], count: number): { re: number; im: number }[] {
  return Array.from({ length: count }, (_, k) => {
    let [re, im] = [0, 0];
    x.forEach((v, i) => {
      const angle = (-2 * Math.PI * ((k * i) % x.length)) / x.length;
      re += v * Math.cos(angle);
      im += v * Math.sin(angle);
    });
    return { re, im };
  });
}

/** Power of the bins 0 ... count - 1 of `x`, whose length is a power of two. */
export function powerSpectrum(x: readonly number[], count: number): number[] {
  const [re, im] = [Float64Array.from(x), new Float64Array(x.length)];
  fft(re, im);
  return Array.from({ length: count }, (_, k) => (re[k] ?? 0) ** 2 + (im[k] ?? 0) ** 2);
}

/** The discrete Fourier transform in place, of a length that is a power of two (Cooley and Tukey 1965). */
export function fft(re: Float64Array, im: Float64Array): void {
  const n = re.length;
  for (let i = 1, j = 0; i < n; i++) {
    let bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) {
      [re[i], re[j]] = [re[j] ?? 0, re[i] ?? 0];
      [im[i], im[j]] = [im[j] ?? 0, im[i] ?? 0];
    }
  }
  for (let half = 1; half < n; half <<= 1) butterflies(re, im, half);
}

function butterflies(re: Float64Array, im: Float64Array, half: number): void {
  for (let k = 0; k < half; k++) {
    const c = Math.cos((-Math.PI * k) / half);
    const s = Math.sin((-Math.PI * k) / half);
    for (let i = k; i < re.length; i += 2 * half) {
      const j = i + half;
      const x = (re[j] ?? 0) * c - (im[j] ?? 0) * s;
      const y = (re[j] ?? 0) * s + (im[j] ?? 0) * c;
      re[j] = (re[i] ?? 0) - x;
      im[j] = (im[i] ?? 0) - y;
      re[i] = (re[i] ?? 0) + x;
      im[i] = (im[i] ?? 0) + y;
    }
  }
}
