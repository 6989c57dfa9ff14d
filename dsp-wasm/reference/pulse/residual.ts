import { dft } from '../math/spectrum.js';
import { sum } from './beats.js';
import { BINS, windowed } from './powers.js';

/** What the accelerometer does not explain of the optical channels, as assembly/pulse/residual.ts, in plain double precision. */

interface Complex {
  readonly re: number;
  readonly im: number;
}

/** Bins over which the motion is fitted. */
const COMMON = Array.from({ length: 16 }, (_, i) => 10 + 4 * i);
/** Delays of the taps, points of 1/16 s. */
const DELAYS = [-2, 0, 2];

/** The filter of one session; steps are a second apart. */
export class Residual {
  #gram: number[][] | null = null;
  #responses: number[][] = [];
  #shares: number[][] = [];

  /** Forgets the filter. */
  reset(): void {
    this.#gram = null;
  }

  /** @returns the power spectrum of each optical channel without what the axes explain; both without their trends */
  powers(opticals: readonly number[][], axes: readonly number[][]): number[][] {
    const lights = opticals.map(spectrum);
    const taps = axes.map(spectrum).flatMap((axis) => DELAYS.map((delay) => axis.map((v, k) => delayed(v, k, delay))));
    const axesPower = sum(axes.map(spectrum).map((axis) => product(axis, axis)));
    const gram = taps.map((a) => taps.map((b) => product(a, b) / axesPower));
    const sizes = lights.map((light) => Math.sqrt(product(light, light)));
    const responses = lights.map((light, i) =>
      taps.map((tap) => product(tap, light) / Math.sqrt(axesPower) / (sizes[i] ?? 1)),
    );
    const mean = (now: readonly number[][], before: readonly number[][]) =>
      now.map((row, i) => row.map((v, j) => 0.1 * v + 0.9 * (before[i]?.[j] ?? 0)));
    this.#responses = this.#gram ? mean(responses, this.#responses) : responses;
    this.#gram = this.#gram ? mean(gram, this.#gram) : gram;
    const ridged = this.#gram.map((row, i) => row.map((v, j) => (i === j ? 1.005 * v : v)));
    const powers = lights.map((light, i) => {
      const weights = solved(ridged, this.#responses[i] ?? []).map((w) => (w * (sizes[i] ?? 0)) / Math.sqrt(axesPower));
      return light.map(({ re, im }, k) => {
        const left = re - sum(taps.map((tap, t) => (weights[t] ?? 0) * (tap[k]?.re ?? 0)));
        const turned = im - sum(taps.map((tap, t) => (weights[t] ?? 0) * (tap[k]?.im ?? 0)));
        return left ** 2 + turned ** 2 + 0.005 * ((sizes[i] ?? 0) ** 2 / COMMON.length);
      });
    });
    const about = (k: number, of: (k: number) => number) => of(k - 1) + of(k) + of(k + 1);
    this.#shares = lights.map((light, i) =>
      light.map(
        (_, k) =>
          about(k, (b) => powers[i]?.[b] ?? 0) / about(k, (b) => (light[b]?.re ?? 0) ** 2 + (light[b]?.im ?? 0) ** 2),
      ),
    );
    return powers;
  }

  /** Share of the power at a bin, and at those beside it, that the axes of the last step do not explain: the mean over the channels. */
  unexplainedAt(k: number): number {
    return sum(this.#shares.map((shares) => shares[k] ?? 0)) / this.#shares.length;
  }
}

function spectrum(x: readonly number[]): Complex[] {
  const seen = windowed(x);
  return dft([...seen, ...seen.map(() => 0)], BINS);
}

/** A bin's value if the signal came `delay` points later. */
function delayed({ re, im }: Complex, k: number, delay: number): Complex {
  const phase = (-2 * Math.PI * k * delay) / 256;
  return { re: re * Math.cos(phase) - im * Math.sin(phase), im: re * Math.sin(phase) + im * Math.cos(phase) };
}

function product(a: readonly Complex[], b: readonly Complex[]): number {
  return sum(COMMON.map((k) => (a[k]?.re ?? 0) * (b[k]?.re ?? 0) + (a[k]?.im ?? 0) * (b[k]?.im ?? 0)));
}

/** Solves a symmetric positive definite system by elimination. */
function solved(matrix: readonly number[][], right: readonly number[]): number[] {
  const rows = matrix.map((row, i) => [...row, right[i] ?? 0]);
  for (const [i, pivot] of rows.entries()) {
    for (const [j, row] of rows.entries()) {
      const share = (row[i] ?? 0) / (pivot[i] ?? 1);
      if (j !== i) rows[j] = row.map((v, c) => v - share * (pivot[c] ?? 0));
    }
  }
  return rows.map((row, i) => (row.at(-1) ?? 0) / (row[i] ?? 1));
}
