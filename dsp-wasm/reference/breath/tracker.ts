import { dft } from '../math/spectrum.js';
import { withoutDrift } from './drift.js';

/** A series of 4 Hz, the noise of its measurement, and the least and greatest steepness of its noise's spectrum. */
export interface BreathSeries {
  readonly x: readonly number[];
  readonly resolution: number;
  readonly gentle: number;
  readonly steep: number;
  /** Whether it swings with the blood pressure, too, as intervals do. */
  readonly pressure?: boolean;
}

/** Tracked rates, per minute. */
const RATES = Array.from({ length: 45 }, (_, i) => (5 + i) * 0.9375);

/** The filter over respiratory rates in plain double precision: the twin of assembly/breath/tracker.ts. */
export class BreathFollower {
  #posterior: number[] = prior();
  #last = 0;

  /** Takes the series of the window that ends at `end`; null where none shows anything. */
  follow(end: number, series: readonly BreathSeries[], fastest: number, share = 1) {
    const top = Math.min(49, Math.trunc(fastest / 0.9375));
    const alive = series.map((s) => ({ r: explained(s, top), pressure: s.pressure })).filter(({ r }) => r.length > 0);
    if (alive.length === 0) return null;
    const predicted = this.#predict(end);
    const exponent = Math.round((9 * share * (series[0]?.x.length ?? 0)) / 128);
    const weighed = predicted.map((p, i) => {
      const k = 5 + i;
      if (k > top) return p;
      const odds = (pressure = false) => (pressure && k <= 8 ? 0.03 : 0.3) / 45;
      return alive.reduce((q, { r, pressure }) => q * (1 + odds(pressure) * sinusoid(r, k, exponent)) ** 0.125, p);
    });
    this.#posterior = normalised(weighed);
    return this.#answer();
  }

  #predict(end: number): number[] {
    const known = this.#last > 0 && end - this.#last < 32;
    this.#last = end;
    const p = known ? this.#posterior : prior();
    const at = (i: number) => p[Math.min(44, Math.max(0, i))] ?? 0;
    return prior().map((q, i) => 0.01 * q + 0.99 * (0.25 * at(i - 1) + 0.5 * at(i) + 0.25 * at(i + 1)));
  }

  #answer() {
    const stretches = RATES.map((_, i) => {
      const bins = RATES.map((rate, j) => ({ rate, p: Math.abs(i - j) <= 3 ? (this.#posterior[j] ?? 0) : 0 }));
      const mass = bins.reduce((sum, b) => sum + b.p, 0);
      return { mass, value: bins.reduce((sum, b) => sum + b.p * b.rate, 0) / mass };
    });
    const { mass, value } = stretches.reduce((best, s) => (s.mass > best.mass ? s : best));
    return { value, confidence: mass < 0.5 ? mass : 1 - 4 * (1 - mass) ** 3 };
  }
}

/** Log-normal around 15 per minute. */
function prior(): number[] {
  return normalised(RATES.map((rate) => Math.exp(-0.5 * (Math.log(rate / 15) / 0.5) ** 2) / rate));
}

function normalised(p: readonly number[]): number[] {
  const sum = p.reduce((s, v) => s + v, 0);
  return p.map((v) => v / sum);
}

function sinusoid(r: readonly number[], k: number, exponent: number): number {
  const here = r[k] ?? 0;
  const harmonic = here > 0.05 ? 0.3 * (r[2 * k] ?? 0) : 0;
  return Math.max(0.1, 1 - here - harmonic) ** -exponent;
}

/** Share of the whitened power that a line at each bin explains; empty if there is no power. */
function explained({ x, resolution, gentle, steep }: BreathSeries, top: number): number[] {
  const { rest, taken } = withoutDrift(x, 2);
  const power = spectrum(rest).map((p) => p + 0.375 * x.length * (resolution + 0.05 * taken) ** 2);
  const steepness = Math.max(gentle, Math.min(steep, slopeOf(power)));
  const level = power.map((p, k) => (k < 2 || k > 2 * top ? 0 : p * blend(k / 16, steepness)));
  const total = level.reduce((sum, p) => sum + p, 0);
  return total > 0 ? level.map((p) => (p / total) * (384 / x.length)) : [];
}

/** Power of bins 0 to 127 of the series under a Hann window, padded to 256. */
function spectrum(x: readonly number[]): number[] {
  const padded = Array.from({ length: 256 }, (_, i) => {
    return i < x.length ? (x[i] ?? 0) * Math.sin((Math.PI * (i + 0.5)) / x.length) ** 2 : 0;
  });
  return dft(padded, 128).map(({ re, im }) => re * re + im * im);
}

/** Steepness of the power between 2.5 to 6 and 24 to 45 per minute. */
function slopeOf(power: readonly number[]): number {
  const amplitude = (from: number, to: number) => {
    const part = power.slice(from, to + 1);
    return part.reduce((sum, p) => sum + Math.sqrt(p), 0) / part.length;
  };
  const [low, high] = [amplitude(3, 6), amplitude(26, 47)];
  return low > 0 && high > 0 ? (2 * Math.log(low / high)) / Math.log((26 + 47) / (3 + 6)) : 0;
}

/** x^steepness, interpolated between the two neighbouring integer powers. */
function blend(x: number, steepness: number): number {
  const below = Math.floor(steepness);
  return x ** below * (1 - steepness + below) + x ** (below + 1) * (steepness - below);
}
