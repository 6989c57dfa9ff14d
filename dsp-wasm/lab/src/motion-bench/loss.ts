import type { FrameSource } from '@device-insights/sdk';
import { type Answer, type Row, TRUSTED } from '../score.js';
import { recordingOf } from './bench.js';
import { make } from './kinds.js';
import { Draws } from './random.js';
import { deviation, HZ, mean, type Signal } from './signal.js';
import type { Source } from './source.js';

/**
 * Recordings in which the pulse is lost while the accelerometer goes on, each also with an axis that carries only noise. No
 * reading may be trusted once the window has left the pulse behind. The kinds, by what the optical channels carry then:
 *
 *   noise   white noise as strong as the signal before: the sensor is off the wrist
 *   still   a constant whose last bit flickers
 *   motion  the motion of the axes, in proportions of chance
 *   never   the same, from the start
 */
const LOSSES = ['noise', 'still', 'motion', 'never'] as const;
type Loss = (typeof LOSSES)[number];

interface LossRecording {
  readonly what: string;
  readonly recording: FrameSource;
  /** When the pulse is gone, s. */
  readonly goneAt: number;
}

/** Seconds that are used, from half a minute on; and when the pulse is gone. */
const SECONDS = 150;
const FROM = 30;
const GONE_AT = 60;

/** Generates a recording of each kind, with and without a broken axis, from each source; the same seed gives the same. */
export function* lossBench(sources: readonly Source[], seed: number): Generator<LossRecording> {
  for (const [k, kind] of LOSSES.entries()) {
    for (const broken of [false, true]) {
      for (const [i, source] of sources.entries()) {
        const goneAt = kind === 'never' ? 0 : GONE_AT;
        const what = `${kind}${broken ? ', broken axis' : ''}`;
        const { lights, axes } = lose(kind, new Draws(seed, 100 + 2 * k + Number(broken), i), source, broken);
        const recording = recordingOf(`${what} ${source.id}`, 'A pulse that is lost in real motion', {
          ppg_green: lights,
          accel: axes,
        });
        yield { what, recording, goneAt };
      }
    }
  }
}

function lose(kind: Loss, draws: Draws, source: Source, broken: boolean) {
  const made = make('plain', draws, source, source);
  const start = Math.max(0, Math.min(FROM, made.rate.length / HZ - SECONDS)) * HZ;
  const cut = (x: Signal) => x.slice(start, start + SECONDS * HZ);
  const axes = made.axes.map(cut);
  const noisy = broken ? draws.below(axes.length) : -1;
  const seen = axes.filter((_, axis) => axis !== noisy);
  const from = kind === 'never' ? 0 : GONE_AT * HZ;
  const lights = made.lights.map(cut).map((x) => {
    const after = AFTER[kind](draws, x, seen);
    return x.map((v, i) => (i < from ? v : (after[i] ?? 0)));
  });
  const noise = draws.uniform(0.05, 0.5); // g
  return { lights, axes: axes.map((x, axis) => (axis === noisy ? hiss(draws, x, mean(x), noise) : x)) };
}

const hiss = (draws: Draws, x: Signal, level: number, sd: number) => x.map(() => level + sd * draws.normal());

/** By kind: what takes the place of an optical channel's signal. */
const AFTER: Readonly<Record<Loss, (draws: Draws, x: Signal, axes: readonly Signal[]) => Signal>> = {
  noise: (draws, x) => hiss(draws, x, 0, deviation(x)),
  still: (draws, x) => x.map(() => Math.round(0.5 * draws.normal())),
  motion: mixed,
  never: mixed,
};

function mixed(draws: Draws, x: Signal, axes: readonly Signal[]): Signal {
  const mix = new Float64Array(x.length);
  for (const axis of axes) {
    const [level, share] = [mean(axis), draws.normal()];
    for (let i = 0; i < mix.length; i++) mix[i] = (mix[i] ?? 0) + share * ((axis[i] ?? 0) - level);
  }
  const height = deviation(x);
  const scale = height / Math.max(deviation(mix), 1e-9);
  return mix.map((v) => scale * v + 0.02 * height * draws.normal());
}

/** After the window has left the pulse behind, s. */
const GRACE_S = 10;

/** The readings of one recording. */
export interface LossAnswers extends Omit<LossRecording, 'recording'> {
  readonly answers: readonly Answer[];
}

/** A row for each kind: how much is trusted before the pulse is gone, how much after it, and how long at most. */
export function scoreLosses(all: readonly LossAnswers[]): Row[] {
  return [...new Set(all.map(({ what }) => what))].map((what) => {
    const own = all.filter((one) => one.what === what);
    const readings = own.flatMap(({ answers, goneAt }) =>
      answers.map(({ actual_end, confidence }) => ({
        since: actual_end / 1000 - goneAt,
        trusted: confidence >= TRUSTED,
      })),
    );
    const after = readings.filter(({ since }) => since > GRACE_S);
    const longest = Math.max(0, ...readings.filter(({ trusted }) => trusted).map(({ since }) => since));
    return {
      what,
      readings: readings.length,
      'trusted before %': percentTrusted(readings.filter(({ since }) => since <= 0)),
      'trusted after 10 s %': percentTrusted(after),
      'last trusted, s': Math.round(longest),
    };
  });
}

function percentTrusted(readings: readonly { readonly trusted: boolean }[]): number | null {
  if (readings.length === 0) return null;
  return Number(((100 * readings.filter(({ trusted }) => trusted).length) / readings.length).toFixed(2));
}
