import { BINS, WINDOW, windowed } from './powers.js';

/** A complex number: its real and its imaginary part. */
export type Complex = readonly [number, number];

export const times = ([a, b]: Complex, [c, d]: Complex): Complex => [a * c - b * d, a * d + b * c];
export const conjugate = ([a, b]: Complex): Complex => [a, -b];
export const size = ([a, b]: Complex): number => Math.hypot(a, b);
export const scaled = ([a, b]: Complex, by: number): Complex => [a * by, b * by];

/** The spectral line of a signal at a rate, its phase that at the window's middle. */
export function complexLine(light: readonly number[], bpm: number): Complex {
  const k = Math.max(7, Math.min(BINS - 1, Math.floor(bpm / 3.75 + 0.5)));
  const points = windowed(light);
  const middle = (points.length - 1) / 2;
  const angle = (i: number) => (-Math.PI * k * (i - middle)) / points.length;
  const sum = points.reduce<Complex>(
    ([a, b], v, i) => [a + v * Math.cos(angle(i)), b + v * Math.sin(angle(i))],
    [0, 0],
  );
  return scaled(sum, Math.cos((Math.PI * k) / (2 * WINDOW)) ** -3);
}
