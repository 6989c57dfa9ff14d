import type { FrameSource } from '@device-insights/sdk';
import { recordingOf } from '../motion-bench/bench.js';
import { Draws } from '../motion-bench/random.js';
import type { Signal } from '../motion-bench/signal.js';
import { type Answer, type Row, TRUSTED, toleranceOf } from '../score.js';

/**
 * The bench of extremes: regular signals at rest whose true value is constant, at the ends of what people have and of what devices
 * sample. It shows the ranges within which readings are trusted.
 */

/** One channel: its modality, its value at t (s), and the standard deviation of its noise. */
export interface Wave {
  readonly modality: string;
  readonly at: (t: number) => number;
  readonly noise: number;
}

/** A kind of signal, generated for each value, shape, noise and sampling rate. */
export interface Kind {
  readonly what: string;
  readonly type: keyof typeof SECONDS;
  /** True values, in the unit of the type. */
  readonly values: readonly number[];
  /** A parameter of the signal: a height, a depth, or a perfusion. */
  readonly shapes: readonly number[];
  /** Noise, relative to the amplitude. */
  readonly noises: readonly number[];
  readonly rates: readonly number[];
  /** From when on its readings are scored, s, where that is later than usual. */
  readonly from?: number;
  readonly waves: (value: number, shape: number, noise: number) => readonly Wave[];
}

/** The recordings of one kind and value. */
export interface Extreme {
  readonly kind: Kind;
  readonly value: number;
  readonly recordings: readonly FrameSource[];
}

/** Calibration curve of the recordings with red and infrared. */
export const CURVE: readonly number[] = [110, -25];

const LIGHT_HZ = [25, 50, 128, 200, 512] as const;
const ECG_HZ = [125, 250, 512] as const;
const BREATHS = [4, 5, 6, 8, 12, 20, 30, 40, 50, 60] as const;
/** An ordinary breath, per minute. */
const BREATH = 14;

const bump = (x: number, at: number, width: number) => Math.exp(-(((x - at) / width) ** 2));
const wave = (perMinute: number, t: number) => Math.sin((2 * Math.PI * perMinute * t) / 60);

/** Beats since t = 0; the rate follows the breath by 3 %. */
function beatsAt(t: number, bpm: number, breaths = BREATH): number {
  return (t * bpm) / 60 + ((0.03 * bpm) / (2 * Math.PI * breaths)) * wave(breaths, t);
}

/** A pulse with a second wave of that height; its parts keep their length in fast hearts as far as they can. */
function pulse(beats: number, bpm: number, second = 0.3): number {
  const beat = 60 / bpm;
  const x = (beats % 1) * beat;
  const width = Math.min(1, 0.55 + 0.45 * beat);
  return bump(x, 0.16 * width, 0.07 * width) + second * bump(x, 0.38 * width, 0.09 * width);
}

/** R peak of 1 with a T wave of that height at its usual place (Bazett 1920). */
function electric(beats: number, bpm: number, tWave = 0.2): number {
  const beat = 60 / bpm;
  const x = ((beats % 1) - 0.5) * beat;
  const t = 0.39 * Math.sqrt(beat) - 0.09;
  return bump(x, 0, 0.011) - 0.2 * bump(x, 0.028, 0.01) + tWave * bump(x, t, 0.2 * t);
}

/** Height of a beat, of which every second one is low. */
const weaker = (beats: number, low: number) => (Math.floor(beats) % 2 ? low : 1);

const light = (bpm: number, second: number, noise: number): Wave => ({
  modality: 'ppg_green',
  at: (t) => 80_000 - 800 * pulse(beatsAt(t, bpm), bpm, second),
  noise: 800 * noise,
});
const ecg = (noise: number, at: (t: number) => number): Wave => ({
  modality: 'ecg',
  at: (t) => 800 * at(t),
  noise: 800 * noise,
});

/** When a heart jumps to another rate, or a lead is put on, and when its readings have to be right again, s. */
const CHANGE = 20;
const SETTLED = CHANGE + 10;

/** What a lead has before it is put on: a flat line, a wave, and one that rises through the rates of hearts and the band of the QRS. */
const BEFORE = [() => 0, (t: number) => 2 * wave(18, t), (t: number) => Math.sin(2 * Math.PI * (1 + 0.7 * t) * t)];

/** A heart that is fast enough to show the breath, and not slower than at rest. */
const heartFor = (breaths: number) => Math.max(70, 2.6 * breaths);

/** Shapes: height of the second wave (light), of each other beat, of the T wave (ECG), the rate or the wave before, depth of the breath, perfusion (SpO2). */
export const KINDS: readonly Kind[] = [
  {
    what: 'light',
    type: 'hr',
    values: [30, 32, 35, 38, 40, 45, 60, 100, 150, 180, 200, 210, 220],
    shapes: [0.1, 0.3, 0.5],
    noises: [0.015, 0.1],
    rates: LIGHT_HZ,
    waves: (bpm, second, noise) => [light(bpm, second, noise)],
  },
  {
    what: 'light, alternans',
    type: 'hr',
    values: [80, 120, 150, 180, 200],
    shapes: [0.35, 0.5, 0.7],
    noises: [0.015],
    rates: LIGHT_HZ,
    waves: (bpm, low, noise) => [
      {
        ...light(bpm, 0.3, noise),
        at: (t) => 80_000 - 800 * weaker(beatsAt(t, bpm), low) * pulse(beatsAt(t, bpm), bpm),
      },
    ],
  },
  {
    what: 'ECG',
    type: 'hr',
    values: [25, 28, 30, 35, 40, 60, 100, 150, 200, 230, 250, 275, 300],
    shapes: [0.15],
    noises: [0.01, 0.05],
    rates: ECG_HZ,
    waves: (bpm, tWave, noise) => [ecg(noise, (t) => electric(beatsAt(t, bpm), bpm, tWave))],
  },
  {
    what: 'ECG, alternans',
    type: 'hr',
    values: [80, 100, 120, 150],
    shapes: [0.35, 0.5],
    noises: [0.01],
    rates: ECG_HZ,
    waves: (bpm, low, noise) => [
      ecg(noise, (t) => {
        const beats = beatsAt(t, bpm);
        return weaker(beats, low) * electric(beats, bpm);
      }),
    ],
  },
  {
    what: 'ECG, tall T',
    type: 'hr',
    values: [40, 45, 50, 60, 80],
    shapes: [1, 1.4],
    noises: [0.01],
    rates: ECG_HZ,
    waves: (bpm, tWave, noise) => [ecg(noise, (t) => electric(beatsAt(t, bpm), bpm, tWave))],
  },
  {
    what: 'ECG, jump to',
    type: 'hr',
    values: [40, 75, 110, 140, 180, 220, 260],
    shapes: [30, 60, 180],
    noises: [0.01, 0.05],
    rates: ECG_HZ,
    from: SETTLED,
    waves: (bpm, first, noise) => [
      ecg(noise, (t) => (t < CHANGE ? electric(beatsAt(t, first), first) : electric(beatsAt(t - CHANGE, bpm), bpm))),
    ],
  },
  {
    what: 'ECG, put on at',
    type: 'hr',
    values: [75, 110, 140, 180, 220],
    shapes: [0, 1, 2],
    noises: [0.01, 0.05],
    rates: ECG_HZ,
    from: SETTLED,
    waves: (bpm, before, noise) => [
      ecg(noise, (t) => (t < CHANGE ? (BEFORE[before]?.(t) ?? 0) : electric(beatsAt(t - CHANGE, bpm), bpm))),
    ],
  },
  {
    what: 'breath, belt',
    type: 'rr',
    values: BREATHS,
    shapes: [1],
    noises: [0.04, 0.2],
    rates: [25, 100],
    waves: (breaths, depth, noise) => [
      { modality: 'resp', at: (t) => 1000 * depth * wave(breaths, t), noise: 1000 * noise },
    ],
  },
  {
    what: 'breath, light',
    type: 'rr',
    values: BREATHS,
    shapes: [0.1, 0.2],
    noises: [0.015],
    rates: [25, 100],
    waves: (breaths, depth, noise) => {
      const bpm = heartFor(breaths);
      const at = (t: number) => {
        const breath = depth * wave(breaths, t);
        return 80_000 + 800 * (breath - (1 + breath) * pulse(beatsAt(t, bpm, breaths), bpm));
      };
      return [{ modality: 'ppg_green', at, noise: 800 * noise }];
    },
  },
  {
    what: 'breath, ECG',
    type: 'rr',
    values: BREATHS,
    shapes: [0.1, 0.2],
    noises: [0.01],
    rates: [125, 250],
    waves: (breaths, depth, noise) => {
      const bpm = heartFor(breaths);
      return [ecg(noise, (t) => (1 + depth * wave(breaths, t)) * electric(beatsAt(t, bpm, breaths), bpm))];
    },
  },
  {
    what: 'SpO2',
    type: 'spo2',
    values: [70, 75, 80, 83, 85, 87, 90, 95, 100],
    shapes: [0.003, 0.01, 0.03],
    noises: [0.00005],
    rates: [25, 100],
    waves: (percent, perfusion, noise) => {
      const ratio = (110 - percent) / 25;
      const channel = (modality: string, dc: number, ac: number): Wave => ({
        modality,
        at: (t) => dc * (1 - ac * pulse(beatsAt(t, 72), 72)),
        noise: dc * noise,
      });
      return [channel('ppg_red', 180_000, ratio * perfusion), channel('ppg_ir', 200_000, perfusion)];
    },
  },
];

/** Length of the recordings, s. */
export const SECONDS = { hr: 90, spo2: 60, rr: 180 } as const;

/** Generates all recordings; the same seed gives the same ones. */
export function* extremesBench(seed: number): Generator<Extreme> {
  for (const kind of KINDS)
    for (const value of kind.values) yield { kind, value, recordings: recordingsOf(kind, value, seed) };
}

/** One recording for each shape, noise and sampling rate. */
function recordingsOf(kind: Kind, value: number, seed: number): FrameSource[] {
  return kind.shapes.flatMap((shape) =>
    kind.noises.flatMap((noise) =>
      kind.rates.map((rate) => {
        const id = `${kind.what.replace(/\W+/g, '-')}-${value}-${shape}-${noise}-${rate}`;
        const draws = new Draws(seed, value, rate, Math.round(1e5 * noise), Math.round(1e3 * shape));
        return record(id, kind.waves(value, shape, noise), rate, SECONDS[kind.type], draws);
      }),
    ),
  );
}

/** Samples waves, with their noise. */
export function record(id: string, waves: readonly Wave[], rate: number, seconds: number, draws: Draws): FrameSource {
  const sampled = ({ at, noise }: Wave): Signal =>
    Float64Array.from({ length: seconds * rate }, (_, k) => Math.round(at(k / rate) + noise * draws.normal()));
  const signals = Object.fromEntries(waves.map((one) => [one.modality, [sampled(one)]]));
  return recordingOf(id, 'A signal that is made', signals, rate);
}

/** Readings from this time on are usually scored, s: the start has its own column. */
const SCORED_FROM = { hr: 20, spo2: 10, rr: 60 } as const;

/** The row of one kind and value, over all shapes, noises and sampling rates. */
export function scoreExtreme({ kind, value }: Extreme, recordings: readonly (readonly Answer[])[]): Row {
  const own = recordings.map((answers) => answers.filter(({ type }) => type === kind.type));
  const scored = own.flat().filter(({ actual_end: end }) => end >= 1000 * (kind.from ?? SCORED_FROM[kind.type]));
  const errorsOf = (answers: readonly Answer[]) => answers.map((answer) => Math.abs(answer.value - value));
  const trusted = errorsOf(scored.filter(isTrusted));
  const isRight = (answer: Answer) => Math.abs(answer.value - value) <= 2 * toleranceOf(kind.type, value);
  const wrong = scored.filter((answer) => isTrusted(answer) && !isRight(answer));
  const percent = (some: readonly unknown[], digits: number) =>
    scored.length > 0 ? Number(((100 * some.length) / scored.length).toFixed(digits)) : null;
  return {
    what: `${kind.what} ${value}`,
    readings: scored.length,
    'trusted %': percent(trusted, 1),
    'wrong but trusted %': percent(wrong, 2),
    'worst error': worst(errorsOf(scored)),
    'worst error, trusted': worst(trusted),
    'first trusted, s': firstTrusted(own.map((answers) => answers.filter(isRight))),
  };
}

const isTrusted = ({ confidence }: Answer) => confidence >= TRUSTED;

function worst(errors: readonly number[]): number | null {
  return errors.length > 0 ? Number(Math.max(...errors).toFixed(1)) : null;
}

/** Median, over the recordings with a trusted reading that is right, of the end of the first one's window. */
function firstTrusted(recordings: readonly (readonly Answer[])[]): number | null {
  const firsts = recordings.flatMap((answers) => answers.filter(isTrusted).slice(0, 1));
  const ends = firsts.map(({ actual_end }) => actual_end / 1000).toSorted((a, b) => a - b);
  return ends[Math.floor(ends.length / 2)] ?? null;
}
