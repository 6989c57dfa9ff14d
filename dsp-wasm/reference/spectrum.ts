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
