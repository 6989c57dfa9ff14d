import { type CoreChannel, type CoreReason, ENCODING, type Estimator } from '@device-insights/dsp-wasm';
import { ecg, type KnownBeat, pulse, rhythm, withEctopics } from '@device-insights/dsp-wasm/signals';
import { Draws } from '../motion-bench/random.js';
import type { Call, Tape, TapeWindow } from './tape.js';

/**
 * The fault bench: what recordings hardly have and a guard is for, each kind at several rates and strengths, beside clean signals that look
 * like it. Its truth is a rate, 0 where no reading is right, or the reason that must be named.
 */

const ECG_HZ = [100, 125, 128, 200, 250, 256, 360, 500, 512] as const;
const LIGHT_HZ = [25, 32, 50, 100, 128, 250] as const;
const SECONDS = 70;
const SIGNALS = 16;
/** From when on readings are scored, s. */
const FROM = { hr: 12, rr: 32 } as const;

type At = (t: number, i: number) => number;
interface Made {
  readonly estimator: Estimator;
  /** The values of each channel's sub-channels. */
  readonly channels: readonly (readonly [Omit<CoreChannel, 'sampleRateHz' | 'numChannels'>, readonly At[]])[];
  /** The true rate of the window that ends there; NaN where any reading may be given. */
  readonly rate: (end: number) => number;
  /** The reason that readings which are not trusted have. */
  readonly reason?: CoreReason;
}

const sine = (perSecond: number, t: number) => Math.sin(2 * Math.PI * perSecond * t);
const none = () => 0;
const after = (from: number, rate: number) => (end: number) => (end < from ? Number.NaN : rate);
const lead = (rate: Made['rate'], ...leads: At[]): Made => ({
  ...{ estimator: 'hr_ecg', channels: [[{ modality: 'ecg' }, leads]], rate },
});
const sampled =
  (values: readonly number[]): At =>
  (_, i) =>
    values[i] ?? 0;
const uneven = (draws: Draws, mean: number, spread: number) => () => mean * (1 + spread * draws.uniform(-1, 1));
const rateOf = (beats: readonly KnownBeat[]) => (end: number) => {
  const own = beats.filter(({ time, shape }) => shape !== 'blocked' && time > end - 8 && time <= end);
  const first = own[0]?.time ?? 0;
  return own.length < 2 || end < 15 ? Number.NaN : (60 * (own.length - 1)) / ((own.at(-1)?.time ?? 0) - first);
};
/** Of beats, with a little noise. */
const beating = (draws: Draws, hz: number, beats: readonly KnownBeat[], noise = draws.uniform(0.003, 0.03)) =>
  ecg(SECONDS, beats, { hz, noise, wander: 0.1, seed: draws.below(1e6) });
const regular = (draws: Draws, shape?: KnownBeat['shape'], low = 0.5, high = 1.2) =>
  rhythm(SECONDS, uneven(draws, draws.uniform(low, high), draws.uniform(0, 0.03)), shape);

function withSmall(
  draws: Draws,
  hz: number,
  beats: readonly KnownBeat[],
  isSmall: (beat: KnownBeat, i: number) => boolean,
  size: number,
): At {
  const own = beating(
    draws,
    hz,
    beats.filter((beat, i) => !isSmall(beat, i)),
    0.01,
  );
  const small = ecg(SECONDS, beats.filter(isSmall), { hz, noise: 0, wander: 0 });
  return (_, i) => (own[i] ?? 0) + size * (small[i] ?? 0);
}
/** A light of 18 bits whose pulses, that many counts high, show no breath, so that a respiratory rate of it has a reason. */
const light = (at: At, reason?: CoreReason, estimator: Estimator = 'rr_ppg', rate: Made['rate'] = none): Made => ({
  ...{ estimator, channels: [[{ modality: 'ppg_green', bitDepth: 18 }, [at]]], rate, ...(reason && { reason }) },
});
function pulses(draws: Draws, level: number, height: number): At {
  const [bpm, grain] = [draws.uniform(50, 110), draws.uniform(0.005, 0.02)];
  return (t) => level - height * (pulse((bpm / 60) * t + 0.1 * sine(0.03, t)) + grain * draws.normal());
}
/** A light that breathes so many times a second, and an accelerometer. */
function worn(draws: Draws, rate: number, swing: At, axis: At): Made {
  const [bpm, breath] = [draws.uniform(60, 85), draws.uniform(0.2, 0.3)];
  const beats: At = (t) => (bpm / 60) * t + ((0.04 * bpm) / 60 / (2 * Math.PI * breath)) * sine(breath, t);
  const own: At = (t, i) => (1 + 0.1 * sine(breath, t)) * pulse(beats(t, i)) + 0.2 * sine(breath, t);
  const at: At = (t, i) => 1e5 - 1000 * (own(t, i) + swing(t, i)) + 10 * draws.normal();
  const axes: At[] = [(t, i) => 0.4 * axis(t, i), none, (t, i) => 1 + axis(t, i)];
  const truth = rate === 0 ? none : after(45, 60 * breath);
  return {
    estimator: 'rr_ppg',
    channels: [
      [{ modality: 'ppg_green' }, [at]],
      [{ modality: 'accel' }, axes],
    ],
    rate: truth,
  };
}

const isHeart = (hz: number) => hz > 0.5 && hz < 4;
const HARMONICS = [1, 2, 3, 4, 5, 6, 8, 10] as const;
const HUM: readonly ((phase: number) => number)[] = [
  Math.sin,
  (p) => Math.min(0.6, Math.sin(p)),
  (p) => Math.sign(Math.sin(p)),
  (p) => Math.abs(Math.sin(p)),
  (p) => Math.max(0, Math.sin(p)),
  (p) => ((p / Math.PI) % 2) - 1,
  (p) => Math.sin(p) ** 9,
];
const swapped = (bytes: number, x: number) => {
  const buffer = Buffer.alloc(bytes);
  buffer.writeIntBE(x, 0, bytes);
  return buffer.readIntLE(0, bytes);
};
const SCRAMBLED: readonly ((x: number) => number)[] = [
  (x) => swapped(3, x),
  (x) => swapped(4, x),
  (x) => Buffer.from(Float32Array.of(x).buffer).readFloatBE(),
  (x) => new DataView(Float32Array.of(x).buffer).getInt32(0, true),
];

/** The first of them are ECGs. */
const ECG_KINDS = 13;
const KINDS: Readonly<Record<string, (draws: Draws, hz: number, n: number) => Made>> = {
  hum: (draws, hz, n) => {
    // Of which the sampling brings a harmonic down to the rate of a heart
    const isSlow = (frequency: number) =>
      HARMONICS.some((k) => isHeart(Math.abs(k * frequency - hz * Math.round((k * frequency) / hz))));
    const [size, noise] = [10 ** draws.uniform(2, 3.5), draws.uniform(0, 0.03)];
    let mains = 50;
    for (let tries = 0; tries === 0 || (tries < 99 && !isSlow(mains)); tries++)
      mains = (n % 2 ? 50 : 60) * draws.uniform(0.985, 1.015);
    const shape = HUM[n % HUM.length] ?? Math.sin;
    return lead(none, (t) => 70_000 + Math.round(size * (shape(2 * Math.PI * mains * t) + noise * draws.normal())));
  },
  'ECG in hum': (draws, hz, n) => {
    const [beats, mains, size] = [regular(draws), n % 2 ? 50 : 60.03, draws.uniform(50, 500)];
    const own = sampled(beating(draws, hz, beats));
    return lead(rateOf(beats), (t, i) => own(t, i) + size * sine(mains, t));
  },
  'pacemaker alone': (draws, hz, n) => {
    const [interval, tail] = [draws.uniform(0.6, 1.1), draws.uniform(0.02, 0.2)];
    const wave = [
      (t: number) => (t < 1 / hz ? 1 : 0),
      (t: number) => (t < 1 / hz ? -1 : tail * Math.exp(-t / 0.03)),
      (t: number) => Math.exp(-t / 0.06),
    ][n % 3];
    return lead(none, (t) => 1000 * (wave?.(t % interval) ?? 0) + 15 * draws.normal());
  },
  'even beats': (draws, hz, n) => {
    const beats = rhythm(SECONDS, uneven(draws, draws.uniform(0.4, 1.2), 0), n % 2 ? 'normal' : 'ectopic');
    return lead(rateOf(beats), sampled(beating(draws, hz, beats, 0.005)));
  },
  'blocked beats': (draws, hz, n) => {
    const beats = regular(draws, 'normal', 0.6, 0.95).map((beat, i) =>
      (n % 2 ? i % 3 === 0 : beat.time < 30) ? beat : { ...beat, shape: 'blocked' as const },
    );
    const rate = rateOf(beats);
    return lead(
      n % 2 ? rate : (end) => (end < 30 ? rate(end) : end < 42 ? Number.NaN : 0),
      sampled(beating(draws, hz, beats, 0.01)),
    );
  },
  'held values': (draws, hz, n) => {
    const [beats, every, held] = [regular(draws, 'normal', 0.5, 1), draws.uniform(3, 5), 10 ** draws.uniform(-1.2, 0)];
    const own = beating(draws, hz, beats);
    const at = (i: number) => own[Math.min(own.length - 1, i)] ?? 0;
    return lead(rateOf(beats), (t, i) => {
      const since = t % every;
      if (t < every || since >= held) return at(i);
      const from = at(i - Math.round(since * hz));
      return n % 2 ? from : from + ((at(i + Math.round((held - since) * hz)) - from) * since) / held;
    });
  },
  'T waves': (draws, hz, n) => {
    const beats = regular(draws, (['peaked_t', 'slow_t', 'tall_t'] as const)[n % 3], 0.8, 1.5);
    return lead(rateOf(beats), sampled(beating(draws, hz, beats, 0.01)));
  },
  'small ectopic beats': (draws, hz) => {
    const beats = withEctopics(SECONDS, draws.uniform(0.7, 1), 1 + draws.below(3));
    return lead(
      rateOf(beats),
      withSmall(draws, hz, beats, ({ shape }) => shape === 'ectopic', draws.uniform(0.5, 0.8)),
    );
  },
  alternans: (draws, hz) => {
    const beats = regular(draws, 'normal', 0.35, 0.6);
    return lead(
      rateOf(beats),
      withSmall(draws, hz, beats, (_, i) => i % 2 === 1, draws.uniform(0.15, 0.7)),
    );
  },
  'repeated frames': (draws, hz) => {
    const [beats, frame, chance] = [
      regular(draws, 'normal', 0.5, 1),
      Math.round(draws.uniform(0.06, 0.12) * hz),
      draws.uniform(0.1, 0.35),
    ];
    const own = beating(draws, hz, beats);
    const lost = own.map(() => draws.uniform(0, 1) < chance);
    return lead(rateOf(beats), (_, i) => own[lost[Math.floor(i / frame)] ? i - (i % frame) : i] ?? 0);
  },
  'fast beats': (draws, hz, n) => {
    const beats = n % 2 ? regular(draws, 'ectopic', 0.28, 0.5) : regular(draws, 'normal', 0.21, 0.35);
    return lead(rateOf(beats), sampled(beating(draws, hz, beats)));
  },
  'two hearts': (draws, hz) =>
    lead(
      after(20, 0),
      ...[draws.uniform(0.55, 0.75), draws.uniform(0.9, 1.1)].map((interval) =>
        sampled(beating(draws, hz, rhythm(SECONDS, uneven(draws, interval, 0.02)))),
      ),
    ),
  electrode: (draws, hz, n) => {
    const [beats, factor] = [regular(draws), 10 ** draws.uniform(-1.2, 0.5)];
    const own = sampled(beating(draws, hz, beats));
    const jumps: At = (t) => 10 ** (n / 4 + 3) * (Math.floor(t / 0.72) % 2);
    return lead(
      (end) => (end < 55 ? Number.NaN : rateOf(beats)(end)),
      (t, i) => (t > 30 ? factor * own(t, i) : n % 2 ? jumps(t, i) : own(t, i)),
    );
  },
  clipped: (draws) => {
    const height = 10 ** draws.uniform(2, 3.5);
    const [own, most] = [pulses(draws, 1.5e5, height), 1.5e5 - height * draws.uniform(0.03, 0.4)];
    return light((t, i) => Math.round(Math.min(most, own(t, i))), 'saturated');
  },
  coarse: (draws) => {
    const own = pulses(draws, 1.5e5, 10 ** draws.uniform(1.3, 2.3));
    return light((t, i) => Math.round(own(t, i)), 'noise');
  },
  scrambled: (draws, _, n) => {
    const own = pulses(draws, draws.uniform(3e4, 2.5e5), 10 ** draws.uniform(2.7, 3.5));
    return light((t, i) => SCRAMBLED[n % SCRAMBLED.length]?.(Math.round(own(t, i))) ?? 0, 'bad_scale', 'hr_ppg');
  },
  'lamp steps': (draws) => {
    const [own, every] = [pulses(draws, 0, 800), draws.uniform(4, 10)];
    return light((t, i) => Math.round(own(t, i) + (Math.floor(t / every) % 2 ? 2.1e5 : 0.7e5)), 'noise');
  },
  'free air': (draws) => {
    const level = 2 ** draws.uniform(7, 11.8);
    return light(() => Math.round(level * (1 + 0.01 * draws.normal())), 'no_contact', 'hr_ppg');
  },
  'dark skin': (draws) => light(pulses(draws, 2 ** draws.uniform(12.3, 17), 200), 'noise'),
  'taken off': (draws) => {
    const [own, share] = [pulses(draws, 2e5, 1500), draws.uniform(0.02, 0.2)];
    return light(
      (t, i) => (t < 30 ? own(t, i) : 2e5 * share + 30 * draws.normal()),
      'no_contact',
      'hr_ppg',
      after(42, 0),
    );
  },
  dimmed: (draws) => {
    const [own, share] = [pulses(draws, 2e5, 1500), draws.uniform(0.3, 0.9)];
    return light((t, i) => (t < 30 ? own(t, i) : 2e5 * share + 600 * draws.normal()), 'noise', 'hr_ppg', after(42, 0));
  },
  lamp: (draws) => {
    const [perSecond, noise, drift] = [draws.uniform(0.3, 2), 10 ** draws.uniform(-3, -1.2), draws.uniform(0, 0.5)];
    const at: At = (t) => 1e5 + 2000 * (sine(perSecond, t) + noise * draws.normal() + drift * sine(0.03, t));
    const { channels, ...made } = light(at, 'hum', 'hr_ppg', after(20, 0));
    return { ...made, channels: [...channels, [{ modality: 'accel' }, [none, none, () => 8192 + 8 * draws.normal()]]] };
  },
  rocking: (draws) => {
    const [rate, g] = [draws.uniform(0.2, 0.6), draws.uniform(0.03, 0.14)];
    return worn(
      draws,
      0,
      (t) => 1.5 * sine(rate, t),
      (t) => g * sine(rate, t),
    );
  },
  'a chest that breathes': (draws) => {
    const g = draws.uniform(0.002, 0.02);
    return worn(draws, 1, none, (t) => g * sine(0.25, t));
  },
  'a turn of the wrist': (draws) => {
    const g = draws.uniform(0.05, 0.19);
    return worn(draws, 1, none, (t) => (t > 50 ? g : 0));
  },
};

/** Tapes of each kind's signals; the same seed gives the same ones. */
export function faultTapes(seed: number): Tape[] {
  return Object.entries(KINDS).flatMap(([kind, make], k) =>
    Array.from({ length: SIGNALS }, (_, n) => {
      const draws = new Draws(seed, k, n);
      const rates = k < ECG_KINDS ? ECG_HZ : LIGHT_HZ;
      const hz = rates[draws.below(rates.length)] ?? 100;
      return tapeOf(make(draws, hz, n), `${kind} bench`, `${kind} ${n}`, hz);
    }),
  );
}

function tapeOf({ estimator, channels, rate, reason }: Made, set: string, person: string, hz: number): Tape {
  const calls: Call[] = [];
  const windows = new Map<string, TapeWindow>();
  const type = estimator.startsWith('rr') ? 'rr' : 'hr';
  for (let end = 1; end <= SECONDS; end++) {
    for (const [c, [, subs]] of channels.entries()) {
      const values = Array.from({ length: hz }, (_, k) => (end - 1) * hz + k).flatMap((i) =>
        subs.map((at) => at(i / hz, i)),
      );
      const bytes = new Uint8Array(Float32Array.from(values).buffer);
      calls.push({ run: [c, end - 1, 1 / hz, ENCODING.float32, bytes] });
    }
    // As in a session, whose other readings look at it
    if (estimator === 'rr_ppg') calls.push({ estimator: 'hr_ppg', end });
    if (end % 2) continue;
    calls.push({ estimator, end });
    const reference = rate(end);
    if (end % 4 === 0 && end >= FROM[type] && !Number.isNaN(reference))
      windows.set(`${type} ${end}`, { type, reference, factor: 1, ...(reason && { reason }) });
  }
  const opened = channels.map(([channel, subs]) => ({ ...channel, sampleRateHz: hz, numChannels: subs.length }));
  return { set, person, curve: null, channels: opened, calls, windows };
}
