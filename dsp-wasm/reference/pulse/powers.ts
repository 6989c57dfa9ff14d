import { powerSpectrum } from '../math/spectrum.js';

export const WINDOW = 256;
/** Bins of 3.75 bpm. */
export const BINS = 97;

/** A signal's power spectrum under a Hann window. */
export function powers(x: readonly number[]): number[] {
  const seen = windowed(x);
  const spectrum = powerSpectrum([...seen, ...seen.map(() => 0)], BINS);
  return spectrum.map((v, k) => v / Math.cos((Math.PI * k) / (2 * WINDOW)) ** 6);
}

/** Every second grid sample under a Hann window. */
export function windowed(x: readonly number[]): number[] {
  return thinned(x).map((v, i) => v * (0.5 - 0.5 * Math.cos((4 * Math.PI * (i + 0.5)) / WINDOW)));
}

/** Every second grid sample, averaged with its neighbours (weights 1, 3, 3, 1), except the outermost two, whose window weights are near 0. */
function thinned(x: readonly number[]): number[] {
  const at = (i: number) => x[i] ?? 0;
  return Array.from({ length: WINDOW / 2 }, (_, j) => {
    const i = 2 * j;
    return j === 0 || i + 2 >= WINDOW ? 0 : at(i - 1) + 3 * (at(i) + at(i + 1)) + at(i + 2);
  });
}
