import { fft } from '@device-insights/dsp-wasm/reference';
import { butterworth, filtered, shaped } from './filters.js';
import type { Draws } from './random.js';

/** Sampling rate of all generated signals, Hz. */
export const HZ = 125;
/** Samples of the windows in which spectral lines are measured, and step from one to the next: 8 s and 4 s. */
const WINDOW = 8 * HZ;
const HOP = 4 * HZ;
const LENGTH = 4096;

/** The samples of an optical channel or an axis, at HZ per second. */
export type Signal = Float64Array;

/** A spectral line: its power in arbitrary units, and its rate per minute. */
export interface Line {
  readonly power: number;
  readonly perMinute: number;
}

/** The strongest line between 0.6 and 4 Hz of each window, over all the signals. */
export function lines(signals: readonly Signal[]): Line[] {
  return windowStarts(signals[0]).map((from) => {
    const power = new Float64Array(LENGTH / 2);
    for (const x of signals) addPower(x.subarray(from, from + WINDOW), power);
    let best = Math.ceil((0.6 * LENGTH) / HZ);
    for (let k = best; (k * HZ) / LENGTH < 4; k++) if ((power[k] ?? 0) > (power[best] ?? 0)) best = k;
    return { power: power[best] ?? 0, perMinute: (60 * best * HZ) / LENGTH };
  });
}

function addPower(x: Signal, power: Float64Array): void {
  const re = new Float64Array(LENGTH);
  const im = new Float64Array(LENGTH);
  for (let i = 0; i < x.length; i++) {
    re[i] = (x[i] ?? 0) * (0.5 - 0.5 * Math.cos((2 * Math.PI * i) / (x.length - 1)));
  }
  fft(re, im);
  for (let k = 0; k < power.length; k++) power[k] = (power[k] ?? 0) + (re[k] ?? 0) ** 2 + (im[k] ?? 0) ** 2;
}

/** Minimum acceleration of a moving window: the standard deviation of any axis, g. */
const MOVING_G = 0.2;

/** Whether the wrist moves, for each window. */
export function moving(axes: readonly Signal[]): boolean[] {
  return windowStarts(axes[0]).map((from) => axes.some((x) => deviation(x.subarray(from, from + WINDOW)) > MOVING_G));
}

function windowStarts(x: Signal | undefined): number[] {
  const count = Math.max(0, Math.ceil(((x?.length ?? 0) - WINDOW) / HOP));
  return Array.from({ length: count }, (_, i) => i * HOP);
}

export function mean(x: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < x.length; i++) sum += x[i] ?? 0;
  return sum / x.length;
}

export function deviation(x: Signal): number {
  const middle = mean(x);
  return Math.sqrt(mean(x.map((v) => (v - middle) ** 2)));
}

/** @param values an array; not changed */
export function median(values: ArrayLike<number>): number {
  const sorted = Float64Array.from(values).sort();
  const half = sorted.length >> 1;
  return sorted.length % 2 ? (sorted[half] ?? 0) : ((sorted[half - 1] ?? 0) + (sorted[half] ?? 0)) / 2;
}

/** The value at a position between two samples; beyond the ends, the first or last value. */
export function valueAt(x: ArrayLike<number>, place: number): number {
  const at = Math.max(0, Math.min(x.length - 1, place));
  const i = Math.floor(at);
  const left = x[i] ?? 0;
  return left + (at - i) * ((x[i + 1] ?? left) - left);
}

/** Samples played at another speed, a factor for each sample; forward and backward again if they are too short. */
export function stretched(x: Signal, speed: Signal): Signal {
  const turn = x.length - 1;
  let place = 0;
  return speed.map((step) => {
    place = (place + step) % (2 * turn);
    return valueAt(x, place > turn ? 2 * turn - place : place);
  });
}

/** A random course around 0 with a time constant of `seconds` (autoregressive, first order). */
export function wander(draws: Draws, samples: number, seconds: number, sd: number): Signal {
  const keep = Math.exp(-1 / seconds);
  let value = 0;
  const bySecond = Array.from({ length: Math.floor(samples / HZ) + 2 }, (_, second) => {
    if (second > 0) value = keep * value + Math.sqrt(1 - keep * keep) * draws.normal();
    return sd * value;
  });
  return Float64Array.from({ length: samples }, (_, i) => valueAt(bySecond, i / HZ));
}

/** Phase of a rate (per minute), radians. */
export function phaseOf(rate: Signal): Signal {
  let phase = 0;
  return rate.map((perMinute) => {
    phase += (2 * Math.PI * perMinute) / 60 / HZ;
    return phase;
  });
}

/** The part below `hz`, without delay. */
export function slow(x: Signal, hz: number): Signal {
  return filtered(x, butterworth(2, hz / HZ, 'low'), Math.round((3 * HZ) / (2 * Math.PI * hz)));
}

/** The part between 0.4 and 8 Hz, without delay. */
export function inBand(x: Signal): Signal {
  const sections = [...butterworth(3, 0.4 / HZ, 'high'), ...butterworth(3, 8 / HZ, 'low')];
  return filtered(x, sections, 2 * HZ);
}

/** Amplitudes multiplied by (f / 2 Hz) to the power of `-power`; below 0.6 Hz, by the factor at 0.6 Hz. */
export function tilted(x: Signal, power: number): Signal {
  return shaped(x, (frequency) => (Math.max(frequency * HZ, 0.6) / 2) ** -power);
}
