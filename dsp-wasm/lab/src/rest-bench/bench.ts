import { recordingOf } from '../motion-bench/bench.js';
import { shaped } from '../motion-bench/filters.js';
import { Draws } from '../motion-bench/random.js';
import { deviation, type Signal, valueAt } from '../motion-bench/signal.js';
import type { KnownSignal, Reference } from '../score.js';

/**
 * The rest bench: light, ECG and breathing belts of many hearts, breaths, sensors and noises at rest, whose rates are known exactly. Each
 * recording draws its own of everything.
 */

export const SENSORS = ['ppg', 'ecg', 'resp'] as const;
export type Sensor = (typeof SENSORS)[number];

export interface RestRecording extends KnownSignal {
  readonly sensor: Sensor;
  /** Power of the signal against that of the noise, dB. */
  readonly snr: number;
}

const SECONDS = 90;
const SAMPLE_RATES: Readonly<Record<Sensor, readonly number[]>> = {
  ppg: [25, 50, 64, 100, 128, 200, 256],
  ecg: [100, 125, 128, 200, 250, 360, 500],
  resp: [25, 50, 64, 100, 128, 200, 256],
};
const MODALITY: Readonly<Record<Sensor, string>> = { ppg: 'ppg_green', ecg: 'ecg', resp: 'resp' };

/** Generates `count` recordings of each sensor; the same seed gives the same ones. */
export function* restBench(seed: number, count: number): Generator<RestRecording> {
  for (const [k, sensor] of SENSORS.entries())
    for (let n = 0; n < count; n++) yield restRecording(sensor, `${sensor}-${seed}-${n}`, new Draws(seed, k, n), true);
}

/** The same without any breath: no respiratory rate is right. Hearts and belts still vary, by chance and in slow waves. */
export function* breathlessBench(seed: number, count: number): Generator<RestRecording> {
  for (const [k, sensor] of SENSORS.entries())
    for (let n = 0; n < count; n++)
      yield restRecording(sensor, `still-${sensor}-${seed}-${n}`, new Draws(seed, k, n), false);
}

function restRecording(sensor: Sensor, id: string, draws: Draws, breathes: boolean): RestRecording {
  const hz = pick(draws, SAMPLE_RATES[sensor]);
  const times = Float64Array.from({ length: SECONDS * hz }, (_, i) => i / hz);
  const course = (middle: number, spread: number, low: number, high: number) => {
    const drift = drifting(draws, spread, 30);
    return times.map((t) => Math.min(high, Math.max(low, middle + valueAt(drift, t))));
  };
  const bpm = draws.uniform(42, 195);
  const breaths = course(draws.uniform(8, Math.min(40, bpm / 2.6)), 1, 5, 45);
  const breathPhase = turns(breaths, hz);
  const breath = breathes ? breathPhase.map((turn) => Math.sin(2 * Math.PI * turn)) : chance(draws, times);
  const sinusArrhythmia = bpm < 120 ? draws.uniform(0, 0.05) : 0;
  const beatRate = course(bpm, 3, 35, 210).map((rate, i) => rate * (1 + sinusArrhythmia * (breath[i] ?? 0)));
  const beats = turns(beatRate, hz);
  const snr = draws.uniform(-6, 25);
  const { signal, size } = WAVES[sensor](draws, beats, beatRate, breath);
  const noisy = withNoise(draws, signal, size, snr, times);
  const gain = pick(draws, [30, 300, 3000]);
  const counts = noisy.map((v) => Math.round(60_000 + gain * v));
  return {
    sensor,
    snr,
    set: 'rest bench',
    people: [],
    source: recordingOf(id, 'A signal at rest that is made', { [MODALITY[sensor]]: [counts] }, hz),
    reference: breathes
      ? referenceOf(id, sensor, hz, beats, breathPhase)
      : referenceOf(id, 'resp', hz, beats, new Float64Array(times.length)),
    curve: null,
  };
}

type Waves = (draws: Draws, beats: Signal, rate: Signal, breath: Signal) => { signal: Signal; size: number };

const bump = (x: number, at: number, width: number) => Math.exp(-(((x - at) / width) ** 2));

/** The signal of each sensor without noise, and the standard deviation that the noise is measured by. */
const WAVES: Readonly<Record<Sensor, Waves>> = {
  ppg: (draws, beats, rate, breath) => {
    const [width, second] = [draws.uniform(0.06, 0.085), draws.uniform(0, 0.45)];
    const [depth, baseline] = [draws.uniform(0, 0.12), draws.uniform(0, 0.4)];
    const pulse = beats.map((turn, i) => {
      const beat = 60 / (rate[i] ?? 60);
      const w = Math.min(1, 0.55 + 0.45 * beat);
      const s = (turn % 1) * beat;
      return bump(s, 0.16 * w, width * w) + second * bump(s, 0.4 * w, 0.09 * w);
    });
    const signal = pulse.map((v, i) => baseline * (breath[i] ?? 0) - (1 + depth * (breath[i] ?? 0)) * v);
    return { signal, size: deviation(pulse) };
  },
  ecg: (draws, beats, rate, breath) => {
    const [tWave, depth, polarity] = [draws.uniform(0.05, 0.5), draws.uniform(0, 0.1), pick(draws, [1, -1])];
    const signal = beats.map((turn, i) => {
      const beat = 60 / (rate[i] ?? 60);
      const q = Math.min(1, beat / 0.6);
      const s = ((turn % 1) - 0.5) * beat;
      const wave = 0.1 * bump(s, -0.16 * q, 0.022) + bump(s, 0, 0.011) - 0.2 * bump(s, 0.028, 0.01);
      return polarity * (1 + depth * (breath[i] ?? 0)) * (wave + tWave * bump(s, 0.25 * q, 0.05 * q));
    });
    return { signal, size: 0.3 };
  },
  resp: (_, __, ___, breath) => ({ signal: breath, size: deviation(breath) }),
};

/** Adds noise whose power falls by 1 / f to the power of 0 to 1.2, and a baseline that wanders. */
function withNoise(draws: Draws, signal: Signal, size: number, snr: number, times: Signal): Signal {
  const slope = draws.uniform(0, 1.2) / 2;
  const white = signal.map(() => draws.normal());
  const noise = shaped(white, (frequency) => Math.max(frequency, 1 / signal.length) ** -slope);
  const scale = (size * 10 ** (-snr / 20)) / deviation(noise);
  const baseline = drifting(draws, size * draws.uniform(0, 2), draws.uniform(2, 20));
  return signal.map((v, i) => v + scale * (noise[i] ?? 0) + valueAt(baseline, times[i] ?? 0));
}

/** A random course around 0 with a time constant of `seconds`, one value a second. */
function drifting(draws: Draws, spread: number, seconds: number): number[] {
  const keep = Math.exp(-1 / seconds);
  let value = 0;
  return Array.from({ length: SECONDS + 2 }, (_, i) => {
    if (i > 0) value = keep * value + spread * Math.sqrt(1 - keep * keep) * draws.normal();
    return value;
  });
}

/** What modulates in place of a breath: a random course, and waves of the blood pressure (Mayer waves, of 8 s and longer) in every second one. */
function chance(draws: Draws, times: Signal): Signal {
  const course = drifting(draws, 1, draws.uniform(0.3, 6));
  const [depth, seconds, phase] = [draws.below(2), draws.uniform(8, 25), draws.uniform(0, 2 * Math.PI)];
  return times.map((t) => 0.6 * valueAt(course, t) + 0.6 * depth * Math.sin((2 * Math.PI * t) / seconds + phase));
}

/** Turns since the start, of a rate per minute. */
function turns(perMinute: Signal, hz: number): Signal {
  let sum = 0;
  return perMinute.map((rate) => {
    sum += rate / 60 / hz;
    return sum;
  });
}

function pick<T>(draws: Draws, some: readonly [T, ...T[]] | readonly T[]): T {
  return some[draws.below(some.length)] as T;
}

/** Mean rates: of the heart over 8 s, of the breath over 32 s or, at the start, over at least 16 s. */
function referenceOf(id: string, sensor: Sensor, hz: number, beats: Signal, breaths: Signal): Reference {
  const rate = (phase: Signal, from: number, to: number) =>
    (60 * (valueAt(phase, to * hz - 1) - (from > 0 ? valueAt(phase, from * hz - 1) : 0))) / (to - from);
  const windows = Array.from({ length: (SECONDS - 8) / 2 + 1 }, (_, i) => {
    const end = 8 + 2 * i;
    const hr = sensor === 'resp' ? {} : { hr: rate(beats, end - 8, end) };
    return { end, values: { ...hr, ...(end >= 16 && { rr: rate(breaths, Math.max(0, end - 32), end) }) } };
  });
  return { id, seconds: SECONDS, types: sensor === 'resp' ? ['rr'] : ['hr', 'rr'], windows };
}
