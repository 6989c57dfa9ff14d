import type { Draws } from './random.js';
import {
  deviation,
  HZ,
  lines,
  mean,
  median,
  moving,
  phaseOf,
  type Signal,
  slow,
  stretched,
  tilted,
  valueAt,
  wander,
} from './signal.js';
import type { Source } from './source.js';

/**
 * The kinds of generated recordings. The accelerometer and the motion artefact of the optical channels are real; the pulse
 * is generated, so that its rate is known exactly.
 *
 *   plain   the source's own heart rate, the artefact at its real strength: the control
 *   strong  the artefact 3 to 10 dB above the pulse
 *   slope   the artefact tilted against the accelerometer, so that the arm's swing (half the cadence) is stronger
 *   swap    the heart rate of another recording, faster or slower: other ratios of pulse and cadence
 *   arm     the motion slowed to 0.3 to 0.6 of its speed, in bursts, and the artefact tilted: arm work instead of steps
 *   cross   as swap, but the pulse stays within 12 bpm of the cadence for a third of the time
 *   cold    as swap, but starting during the motion, with a second harmonic as strong as the fundamental
 *   fidget  a wrist almost at rest, and a weak pulse with such a second harmonic: tests for the right multiple
 */
export const KINDS = ['plain', 'strong', 'slope', 'swap', 'arm', 'cross', 'cold', 'fidget'] as const;
export type Kind = (typeof KINDS)[number];

/** Ranges of the artefact's strongest line relative to the pulse's while moving, dB. */
const ARTEFACT_DB: Readonly<Record<Kind, readonly [number, number]>> = {
  plain: [-3, 2],
  strong: [3, 10],
  slope: [0, 6],
  swap: [0, 6],
  arm: [2, 8],
  cross: [-2, 5],
  cold: [0, 5],
  fidget: [-4, 4],
};

/** How the other recording's course is taken: times a factor between two, and not below `least` bpm. */
export interface Pace {
  readonly factor: readonly [number, number];
  readonly least: number;
}

/** As fast as the people of the recordings, runners; the rates of people who walk or work; and of those at their limit. */
export const RUN: Pace = { factor: [0.85, 1.2], least: 55 };
export const CALM: Pace = { factor: [0.42, 0.8], least: 45 };
export const FAST: Pace = { factor: [1.1, 1.45], least: 60 };

/** The motion of a wrist: the acceleration of each axis, and its artefact in each optical channel. */
export type Motion = Pick<Source, 'axes' | 'artefacts'>;

/** Signals of one generated recording; `rate` is the rate of the pulse, for each sample. */
export interface Made {
  readonly lights: readonly Signal[];
  readonly axes: readonly Signal[];
  readonly rate: Signal;
}

/** Generates a recording of one kind from the motion of one source and, for some kinds, the heart rate of another. */
export function make(kind: Kind, draws: Draws, source: Source, other: Source, pace = RUN): Made {
  const scene = SCENES[kind](draws, source, () => swapped(draws, source, other, pace));
  const { second = draws.uniform(0.25, 0.6) } = scene;
  const rate = scene.rate.map(plus(wander(draws, scene.rate.length, 2, 1)));
  const pulses = scene.artefacts.map(pulseMaker(draws, phaseOf(rate), second));
  const decibels = draws.uniform(...ARTEFACT_DB[kind]);
  const active = moving(scene.axes);
  const lights = pulses.map((pulse, i) => {
    const artefact = scene.artefacts[i] ?? pulse;
    const scale = 10 ** ((decibels - medianDecibels(artefact, pulse, active)) / 20);
    return pulse.map((v, n) => 100 * (v + scale * (artefact[n] ?? 0) + 0.02 * draws.normal()));
  });
  const start = kind === 'cold' ? coldStart(draws, active, rate.length) : 0;
  const cut = (x: Signal) => x.subarray(start);
  return { lights: lights.map(cut), axes: scene.axes.map(cut), rate: cut(rate) };
}

interface Scene {
  readonly axes: readonly Signal[];
  readonly artefacts: readonly Signal[];
  readonly rate: Signal;
  /** Second harmonic of the pulse relative to the fundamental; random if not given. */
  readonly second?: number;
}

/** For each kind, the scene that it makes from the source, or from the source with another recording's heart rate. */
const SCENES: Readonly<Record<Kind, (draws: Draws, source: Source, swap: () => Scene) => Scene>> = {
  plain: (_, source) => source,
  strong: (_, source) => source,
  slope: (draws, _, swap) => {
    const { axes, artefacts, rate } = swap();
    const power = draws.uniform(0.5, 1.2);
    return { axes, rate, artefacts: artefacts.map((x) => tilted(x, power)) };
  },
  swap: (_, __, swap) => swap(),
  arm: (draws, _, swap) => armWork(draws, swap()),
  cross: (draws, _, swap) => alongCadence(draws, swap()),
  cold: (draws, _, swap) => ({ ...swap(), second: draws.uniform(0.8, 1.3) }),
  fidget: (draws, _, swap) => fidgeting(draws, swap()),
};

/**
 * The source's motion with the heart rate of the other recording, stretched to its length and made faster or slower.
 */
function swapped(draws: Draws, { axes, artefacts, rate }: Source, other: Source, { factor, least }: Pace): Scene {
  const times = draws.uniform(...factor);
  const pace = other.rate.length / rate.length;
  return {
    axes,
    artefacts,
    rate: rate.map((_, i) => clamp(valueAt(other.rate, i * pace) * times, least, 195)),
  };
}

function armWork(draws: Draws, { axes, artefacts, rate }: Scene): Scene {
  const { length } = rate;
  const pace = draws.uniform(0.3, 0.6);
  const speed = wander(draws, length, 6, 0.25).map((v) => pace * Math.exp(v));
  const bursts = wander(draws, length, 6, 0.6).map(Math.exp);
  const power = draws.uniform(0.5, 1.5);
  const burst = (x: Signal) => x.map((v, i) => v * (bursts[i] ?? 1));
  return {
    rate,
    artefacts: artefacts.map((x) => tilted(burst(stretched(x, speed)), power)),
    axes: axes.map((x) => {
      const gravity = mean(x);
      const moved = burst(stretched(x, speed).map((v) => v - gravity));
      return moved.map((v) => v + gravity);
    }),
  };
}

/** A wrist almost at rest for a minute and a half. */
function fidgeting(draws: Draws, { axes, artefacts, rate }: Scene): Scene {
  const samples = 90 * HZ;
  const begin = draws.below(Math.max(1, rate.length - samples));
  return {
    ...calm({ axes, artefacts }, samples),
    rate: rate.slice(begin, begin + samples),
    second: draws.uniform(0.8, 1.4),
  };
}

/** The calmest half minute of a motion, played forward and backward. */
export function calm({ axes, artefacts }: Motion, samples: number): Motion {
  const part = 30 * HZ;
  const { length } = axes[0] ?? [];
  const starts = Array.from({ length: Math.max(1, Math.ceil((length - part) / (5 * HZ))) }, (_, i) => i * 5 * HZ);
  const unrest = starts.map((from) => Math.max(...axes.map((x) => deviation(x.subarray(from, from + part)))));
  const from = starts[unrest.indexOf(Math.min(...unrest))] ?? 0;
  const played = (x: Signal) => stretched(x.subarray(from, from + part), new Float64Array(samples).fill(1));
  return { axes: axes.map(played), artefacts: artefacts.map(played) };
}

/**
 * Changes a heart rate so that it runs beside the cadence (or twice the cadence, if that is slow) for a third of the
 * time.
 */
function alongCadence(draws: Draws, { axes, artefacts, rate }: Scene): Scene {
  const { length } = rate;
  const found = lines(axes.map((x) => x.map(plus(-mean(x))))).map(({ perMinute }) => perMinute);
  const smooth = found.map((_, i) =>
    mean(found.map((__, j) => found[clamp(i + j - 4, 0, found.length - 1)] ?? 0).slice(0, 9)),
  );
  const beside = (draws.uniform(0, 1) < 0.5 ? -1 : 1) * draws.uniform(0, 12);
  const begin = draws.uniform(0.2, 0.45) * length;
  const end = begin + length / 3;
  const bent = rate.map((bpm, i) => {
    const cadence = valueAt(smooth, i / (4 * HZ) - 1);
    const near = clamp((cadence < 100 ? 2 * cadence : cadence) + beside, 60, 195);
    const share = clamp((i - begin) / (25 * HZ), 0, 1) * clamp((end - i) / (25 * HZ), 0, 1);
    return (1 - share) * bpm + share * near;
  });
  return { axes, artefacts, rate: slow(bent, 0.02) };
}

/**
 * Generates the pulse of one optical channel: three harmonics whose height changes with breathing and wanders, partly
 * in common with the other channels.
 */
function pulseMaker(draws: Draws, phase: Signal, second: number): () => Signal {
  const { length } = phase;
  const third = draws.uniform(0.05, 0.25);
  const [turn2, turn3] = [1.1 + draws.uniform(-0.6, 0.6), 2 + draws.uniform(-0.6, 0.6)];
  const breath = phaseOf(wander(draws, length, 20, 0.03).map((v) => 60 * (0.3 + v)));
  const common = wander(draws, length, 8, 0.2);
  return () => {
    const own = wander(draws, length, 4, 0.12);
    return phase.map((p, i) => {
      const height = Math.exp((common[i] ?? 0) + (own[i] ?? 0)) * (1 + 0.1 * Math.sin(breath[i] ?? 0));
      return height * (Math.cos(p) + second * Math.cos(2 * p + turn2) + third * Math.cos(3 * p + turn3));
    });
  };
}

/**
 * Median, over the windows in motion (over all if there are few), of the ratio of the artefact's line to the pulse's.
 */
function medianDecibels(artefact: Signal, pulse: Signal, active: readonly boolean[]): number {
  const few = active.filter(Boolean).length <= 5;
  const pulses = lines([pulse]);
  const ratios = lines([artefact]).flatMap(({ power }, i) =>
    few || active[i] ? [power / (pulses[i]?.power ?? Number.NaN)] : [],
  );
  return 10 * Math.log10(median(ratios));
}

/** Usually a moment in motion, at least 90 s before the end. */
function coldStart(draws: Draws, active: readonly boolean[], length: number): number {
  const moments = active.flatMap((is, i) => (is ? [i] : []));
  const moment = draws.uniform(0, 1) < 0.7 ? (moments[draws.below(moments.length)] ?? 0) : 0;
  return Math.max(0, Math.min(moment * 4 * HZ, length - 90 * HZ));
}

const clamp = (x: number, low: number, high: number) => Math.max(low, Math.min(high, x));

/** Adds a number, or another signal, to each sample. */
function plus(other: number | Signal): (v: number, i: number) => number {
  return (v, i) => v + (typeof other === 'number' ? other : (other[i] ?? 0));
}
