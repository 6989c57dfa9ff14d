import { random } from '../signals.js';

export { pulse } from '../signals.js';

/** Electrocardiograms with known R peaks, for tests. */

type Shape = 'normal' | 'steep' | 'small' | 'tall_t' | 'peaked_t' | 'slow_t' | 'ectopic' | 'smooth' | 'blocked';

export interface KnownBeat {
  /** Time of the R peak, seconds. */
  readonly time: number;
  readonly shape: Shape;
}

interface EcgOptions {
  readonly hz?: number;
  /** Standard deviation of white noise, as a share of the R wave. */
  readonly noise?: number;
  /** Amplitude of baseline wander at 0.27 Hz, as a share of the R wave. */
  readonly wander?: number;
  readonly seed?: number;
}

/** Height of the R wave in units of the device. */
const R_WAVE = 500;

function wave(t: number, centre: number, width: number, height: number): number {
  return height * Math.exp(-((t - centre) ** 2) / (2 * width * width));
}

/**
 * A beat `t` seconds after its R peak, with an R wave of 1. An ectopic beat is broad, has no P wave and an opposite T wave; of a
 * blocked one there is only a P wave. A steep one is as broad, and falls most
 * steeply at its end. A smooth one has the slopes of a T wave. A small one has a third of the height, as every other beat in electrical alternans.
 */
function beat(t: number, shape: Shape): number {
  if (shape === 'blocked') return wave(t, -0.16, 0.022, 0.18);
  if (shape === 'ectopic') return wave(t, 0, 0.035, 1.3) + wave(t, 0.09, 0.04, -0.5) + wave(t, 0.28, 0.06, -0.5);
  if (shape === 'smooth') return wave(t, 0.02, 0.032, 1.25) + wave(t, 0.13, 0.042, -0.5) + wave(t, 0.3, 0.055, -0.35);
  if (shape === 'steep') return steepWave(t) + wave(t, 0.28, 0.06, -0.7);
  if (shape === 'small') return 0.35 * beat(t, 'normal');
  const qrs = wave(t, -0.028, 0.01, -0.12) + wave(t, 0, 0.011, 1) + wave(t, 0.03, 0.011, -0.22);
  return wave(t, -0.16, 0.022, 0.12) + qrs + tWave(t, shape);
}

/** Rises in 60 ms to its top at 0, falls slowly for 60 ms, and then at once. */
function steepWave(t: number): number {
  const height = wave(t, 0, t < 0 ? 0.025 : 0.09, 1.3);
  return height / (1 + Math.exp((t - 0.065) / 0.004));
}

/** A peaked T wave is as in severe hyperkalaemia: narrow, and higher than the R wave; a slow one is as high, and as broad as usual. */
function tWave(t: number, shape: Shape): number {
  if (shape === 'slow_t') return wave(t, 0.34, 0.045, 1.3);
  if (shape === 'tall_t') return wave(t, 0.22, 0.035, 0.9);
  return shape === 'peaked_t' ? wave(t, 0.28, 0.026, 1.3) : wave(t, 0.22, 0.045, 0.3);
}

/** Samples from t = 0. */
export function ecg(seconds: number, beats: readonly KnownBeat[], options: EcgOptions = {}): number[] {
  const { hz = 250, noise = 0.02, wander = 0.3, seed = 1 } = options;
  const next = random(seed);
  const x = Array.from({ length: Math.floor(seconds * hz) }, (_, i) => {
    // The sum of four even numbers in [-1, 1) has a standard deviation of 1.155.
    const white = (next() + next() + next() + next()) / 1.155;
    return wander * Math.sin((i / hz) * 1.7) + noise * white;
  });
  for (const { time, shape } of beats) {
    for (let i = Math.max(0, Math.floor((time - 0.4) * hz)); i < Math.min(x.length, (time + 0.6) * hz); i++) {
      x[i] = (x[i] ?? 0) + beat(i / hz - time, shape);
    }
  }
  return x.map((v) => R_WAVE * v);
}

/** Beats up to `seconds`, at even intervals or each given by `interval(i)`. */
export function rhythm(
  seconds: number,
  interval: number | ((i: number) => number),
  shape: Shape = 'normal',
): KnownBeat[] {
  const beats: KnownBeat[] = [];
  const after = typeof interval === 'number' ? () => interval : interval;
  for (let time = 0.4, i = 0; time < seconds - 0.6; time += after(i++)) beats.push({ time, shape });
  return beats;
}

/** Intervals about a mean, at most `spread` from it. */
export function jitter(seed: number, mean: number, spread: number): () => number {
  const next = random(seed);
  return () => mean + spread * next();
}

/** The same with ectopic beats that are as slow as T waves. */
export function withSmooth(seconds: number, interval: number, every: number): KnownBeat[] {
  return withEctopics(seconds, interval, every).map(({ time, shape }) => ({
    time,
    shape: shape === 'ectopic' ? 'smooth' : shape,
  }));
}

/** A regular rhythm in which an early ectopic beat and a pause follow every `every`-th beat. */
export function withEctopics(seconds: number, interval: number, every: number): KnownBeat[] {
  const beats: KnownBeat[] = [];
  for (let time = 0.4, i = 1; time < seconds - 0.6; i++) {
    beats.push({ time, shape: 'normal' });
    if (i % every === 0) beats.push({ time: time + 0.6 * interval, shape: 'ectopic' });
    time += i % every === 0 ? 2 * interval : interval;
  }
  return beats.filter(({ time }) => time < seconds - 0.6);
}
