import { record, type Wave } from '../extremes-bench/bench.js';
import { shaped } from '../motion-bench/filters.js';
import { Draws } from '../motion-bench/random.js';
import type { Signal as Samples } from '../motion-bench/signal.js';
import type { KnownSignal } from '../score.js';

/** The noise bench: what a sensor gives that no heart and no breath moves. No reading of it is right, so that its reference is 0. */

const SECONDS = 60;
const RATES = [25, 50, 64, 100, 128, 200, 256, 500] as const;
const LEVEL = 80_000;

/** A wave of size one. */
type Made = (draws: Draws, hz: number) => (t: number) => number;
type Kind = 'white' | 'coloured' | 'hum' | 'line' | 'knocks';
const sine = (hz: number, t: number) => Math.sin(2 * Math.PI * hz * t);

const MADE: Readonly<Record<Kind, Made>> = {
  white: (draws) => () => draws.normal(),
  coloured: (draws, hz) => {
    const power = draws.uniform(0.5, 2.5) / 2;
    const white = Float64Array.from({ length: SECONDS * hz }, () => draws.normal());
    const noise: Samples = shaped(white, (frequency) => Math.max(frequency, 1 / white.length) ** -power);
    const size = Math.max(...noise.map(Math.abs));
    return (t) => (noise[Math.round(t * hz)] ?? 0) / size;
  },
  /** Mains, whose frequency and sampling are off by up to 1 %, with harmonics, swells and clipping. */
  hum: (draws) => {
    const hz = (draws.below(2) ? 50 : 60) * draws.uniform(0.99, 1.01);
    const [second, third] = [draws.uniform(0, 0.3), draws.uniform(0, 0.5)];
    const [swell, swellHz] = [draws.below(2) * draws.uniform(0, 0.5), draws.uniform(0.05, 0.5)];
    const clip = draws.below(3) ? 2 : draws.uniform(0.4, 1);
    const wave = (t: number) => sine(hz, t) + second * sine(2 * hz, t + 1) + third * sine(3 * hz, t + 1);
    return (t) => Math.min(clip, (1 + swell * sine(swellHz, t)) * wave(t));
  },
  /** The flicker of a lamp, seen through the sampling. */
  line: (draws) => {
    const hz = draws.uniform(0.3, 4);
    return (t) => sine(hz, t);
  },
  /** Knocks at random times. */
  knocks: (draws) => {
    const [every, fall] = [draws.uniform(0.3, 3), draws.uniform(0.02, 1)];
    const times = Array.from({ length: Math.ceil(SECONDS / every) + 1 }, () => draws.uniform(0, SECONDS));
    return (t) => times.reduce((sum, at) => sum + (t >= at && t - at < 8 * fall ? Math.exp((at - t) / fall) : 0), 0);
  },
};

/** What each sensor can have that is no heartbeat and no breath for it; a light shows a lamp only beside a wrist at rest. */
const KINDS_OF = {
  ppg_green: ['white', 'coloured', 'knocks', 'line'],
  ecg: ['white', 'coloured', 'knocks', 'hum'],
  resp: ['white', 'coloured', 'knocks'],
} as const;

/** Makes `count` recordings of each kind and sensor; the same seed gives the same ones. */
export function* noiseBench(seed: number, count: number): Generator<KnownSignal> {
  for (const [m, [modality, kinds]] of Object.entries(KINDS_OF).entries())
    for (const [k, kind] of kinds.entries())
      for (let n = 0; n < count; n++) {
        const draws = new Draws(seed, m, k, n);
        const hz = RATES[draws.below(RATES.length)] ?? 50;
        const size = 10 ** draws.uniform(1, 3.5);
        const own = MADE[kind](draws, hz);
        const wave: Wave = { modality, at: (t) => LEVEL + size * own(t), noise: size * 10 ** draws.uniform(-3, -0.5) };
        const still: Wave = { modality: 'accel', at: () => 8192, noise: 8 };
        const id = `${kind}-${modality}-${seed}-${n}`;
        const types = modality === 'resp' ? (['rr'] as const) : (['hr', 'rr'] as const);
        const windows = Array.from({ length: (SECONDS - 8) / 2 }, (_, i) => ({
          end: 8 + 2 * i,
          values: { hr: 0, rr: 0 },
        }));
        const waves = kind === 'line' ? [wave, still] : [wave];
        yield {
          ...{ set: 'noise bench', people: [], source: record(id, waves, hz, SECONDS, draws) },
          ...{ reference: { id, seconds: SECONDS, types, windows }, curve: null },
        };
      }
}
