import { dft } from '../math/spectrum.js';
import { withoutDrift } from './drift.js';
import { Swing } from './swing.js';

/** A series of 4 Hz, the noise of its measurement, and the least and greatest steepness of its noise's spectrum. */
interface BreathSeries {
  readonly x: readonly number[];
  readonly resolution: number;
  readonly gentle: number;
  readonly steep: number;
  /** Whether it swings with the blood pressure, too, as intervals do. */
  readonly pressure?: boolean;
  /** Whether it swings with the vessels' tension, too, as widths do: then it confirms others, and does not tell whether the breath goes on. */
  readonly vessels?: boolean;
}

/** Where series come from, and what that says of them. */
interface BreathSource {
  /** Deviation of the logarithm of the usual rates. */
  readonly spread: number;
  /** Degree of the drift. */
  readonly degree: number;
  /** Part of the power at twice the rate that counts for it. */
  readonly harmonic: number;
  /** Whether an answer is trusted only as far as the series have shown the breath of late; those of beats are trusted as far as the beats. */
  readonly fades: boolean;
  /** Most evidence that is kept. */
  readonly most: number;
  /** Whether noise is no steeper than the drift. */
  readonly limited: boolean;
}
export const FROM_PPG: BreathSource = { spread: 0.35, degree: 2, harmonic: 0.3, fades: false, most: 4, limited: false };
export const FROM_EFFORT: BreathSource = {
  spread: 0.5,
  degree: 5,
  harmonic: 1,
  fades: true,
  most: 0.15,
  limited: true,
};

/** Tracked rates, per minute. */
const RATES = Array.from({ length: 45 }, (_, i) => (5 + i) * 0.9375);

/** The filter over respiratory rates in plain double precision: the twin of assembly/breath/tracker.ts. */
export class BreathFollower {
  readonly #source: BreathSource;
  readonly #prior: readonly number[];
  #posterior: readonly number[];
  #last = 0;
  #shown = 0;
  #swing = new Swing();

  constructor(source: BreathSource) {
    this.#source = source;
    this.#prior = prior(source.spread);
    this.#posterior = this.#prior;
  }

  /** Takes the series of the window that ends at `end`; null where none shows anything. */
  follow(end: number, series: readonly BreathSeries[], fastest: number, share = 1, trust = 1) {
    const top = Math.min(49, Math.trunc(fastest / 0.9375));
    const all = series.map((s) => ({ r: explained(s, top, this.#source), of: s }));
    const alive = all.filter(({ r }) => r.length > 0);
    if (alive.length === 0) return null;
    const predicted = this.#predict(end, 0.01 + 0.1 * (1 - trust));
    const exponent = Math.round((9 * share * Math.min(1, fastest / 30) * (series[0]?.x.length ?? 0)) / 128);
    const weighed = predicted.map((p, i) => {
      const k = 5 + i;
      if (k > top) return p;
      const odds = (pressure = false) => (pressure && k <= 8 ? 0.02 : 0.2) / 45;
      return alive.reduce(
        (q, { r, of }) =>
          q * (1 + odds(of.pressure) * this.#sinusoid(r, k, exponent, of.vessels ? 0.53 : 0.1)) ** 0.125,
        p,
      );
    });
    this.#posterior = normalised(weighed);
    const gain = Math.log(weighed.reduce((sum, v) => sum + v, 0));
    this.#shown = Math.max(0, Math.min(this.#source.most, this.#shown + gain - 0.02));
    const { value, confidence } = this.#answer();
    const rest = series.map((s, i) =>
      all[i]?.r.length && !s.vessels ? withoutDrift(s.x, this.#source.degree).rest : [],
    );
    const told = confidence * (this.#source.fades ? Math.min(1, this.#shown / 0.05) : trust);
    return { value, confidence: calibrated(this.#swing.doubt(rest, value, told)) };
  }

  #predict(end: number, jump: number): number[] {
    const known = this.#last > 0 && end - this.#last < 32;
    if (!known) {
      this.#shown = 0;
      this.#swing = new Swing();
    }
    this.#last = end;
    const p = known ? this.#posterior : this.#prior;
    const at = (i: number) => p[Math.min(44, Math.max(0, i))] ?? 0;
    return this.#prior.map((q, i) => jump * q + (1 - jump) * (0.25 * at(i - 1) + 0.5 * at(i) + 0.25 * at(i + 1)));
  }

  #sinusoid(r: readonly number[], k: number, exponent: number, unexplained: number): number {
    const here = r[k] ?? 0;
    const harmonic = Math.min(this.#source.harmonic * (r[2 * k] ?? 0), 2 * here);
    return Math.max(unexplained, 1 - here - harmonic) ** -exponent;
  }

  #answer() {
    const stretches = RATES.map((_, i) => {
      const bins = RATES.map((rate, j) => ({ rate, p: Math.abs(i - j) <= 3 ? (this.#posterior[j] ?? 0) : 0 }));
      const mass = bins.reduce((sum, b) => sum + b.p, 0);
      return { mass, value: bins.reduce((sum, b) => sum + b.p * b.rate, 0) / mass };
    });
    const { mass, value } = stretches.reduce((best, s) => (s.mass > best.mass ? s : best));
    // Light that shows a breath clearly is trusted with less mass, other light with more.
    const half = this.#source.fades ? 0.5 : 0.6 - 0.2 * Math.max(0, this.#shown / 2 - 1);
    return { value, confidence: mass < half ? (0.5 * mass) / half : 1 - 0.5 * ((1 - mass) / (1 - half)) ** 3 };
  }
}

function calibrated(confidence: number): number {
  return confidence < 0.5 ? confidence : 1 - 0.5 * (2 - 2 * confidence) ** 1.5;
}

/** Log-normal around 16 per minute. */
function prior(spread: number): number[] {
  return normalised(RATES.map((rate) => Math.exp(-0.5 * (Math.log(rate / 16) / spread) ** 2) / rate));
}

function normalised(p: readonly number[]): number[] {
  const sum = p.reduce((s, v) => s + v, 0);
  return p.map((v) => v / sum);
}

/** Share of the whitened power that a line at each bin explains; empty if there is no power. */
function explained({ x, resolution, gentle, steep }: BreathSeries, top: number, source: BreathSource): number[] {
  const { rest, taken } = withoutDrift(x, source.degree);
  const power = spectrum(rest).map((p) => p + 0.375 * x.length * (resolution + 0.05 * taken) ** 2);
  const slowest = taken * x.length * Math.sqrt(0.375 / source.degree);
  const slope = source.limited
    ? Math.min(slopeOf(power), fall(slowest, 1.5, amplitude(power, 26, 47)))
    : slopeOf(power);
  const steepness = Math.max(gentle, Math.min(steep, slope));
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
  return fall(amplitude(power, 3, 6), 4.5, amplitude(power, 26, 47));
}

/** Steepness of the power from one amplitude, at that bin, to the one between the bins 26 and 47. */
function fall(low: number, from: number, high: number): number {
  return low > 0 && high > 0 ? (2 * Math.log(low / high)) / Math.log(36.5 / from) : 0;
}

function amplitude(power: readonly number[], from: number, to: number): number {
  const part = power.slice(from, to + 1);
  return part.reduce((sum, p) => sum + Math.sqrt(p), 0) / part.length;
}

/** x^steepness, interpolated between the two neighbouring integer powers. */
function blend(x: number, steepness: number): number {
  const below = Math.floor(steepness);
  return x ** below * (1 - steepness + below) + x ** (below + 1) * (steepness - below);
}
