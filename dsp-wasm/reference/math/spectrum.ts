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

/** Power of the bins 0 ... count - 1 of `x`, whose length is a power of two, by a recursive FFT. */
export function powerSpectrum(x: readonly number[], count: number): number[] {
  const { re, im } = fft(
    [...x],
    x.map(() => 0),
  );
  return Array.from({ length: count }, (_, k) => (re[k] ?? 0) ** 2 + (im[k] ?? 0) ** 2);
}

function fft(re: number[], im: number[]): { re: number[]; im: number[] } {
  const n = re.length;
  if (n === 1) return { re, im };
  const half = (a: number[], odd: number) => a.filter((_, i) => i % 2 === odd);
  const even = fft(half(re, 0), half(im, 0));
  const odd = fft(half(re, 1), half(im, 1));
  const out = { re: [...re], im: [...im] };
  for (let k = 0; k < n / 2; k++) {
    const [c, s] = [Math.cos((2 * Math.PI * k) / n), -Math.sin((2 * Math.PI * k) / n)];
    const [or, oi] = [odd.re[k] ?? 0, odd.im[k] ?? 0];
    const [tr, ti] = [c * or - s * oi, c * oi + s * or];
    const [er, ei] = [even.re[k] ?? 0, even.im[k] ?? 0];
    out.re[k] = er + tr;
    out.im[k] = ei + ti;
    out.re[k + n / 2] = er - tr;
    out.im[k + n / 2] = ei - ti;
  }
  return out;
}
