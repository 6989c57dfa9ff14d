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
const [SECONDS, SIGNALS] = [80, 16];
/** From when on readings are scored, s. */
const FROM = { hr: 12, rr: 32 } as const;

type At = (t: number, i: number) => number;
interface Made {
  readonly estimator: Estimator;
  readonly channels: readonly (readonly [modality: CoreChannel['modality'], subs: readonly At[]])[];
  /** The true rate of the window that ends there; NaN where any reading may be given. */
  readonly rate: (end: number) => number;
  /** The reason that readings which are not trusted have; null where it is not judged. */
  readonly reason: CoreReason | null;
}

const sine = (perSecond: number, t: number) => Math.sin(2 * Math.PI * perSecond * t);
const none = () => 0;
const after = (from: number, rate: number) => (end: number) => (end < from ? Number.NaN : rate);

const lead = (rate: Made['rate'], at: At): Made => ({
  estimator: 'hr_ecg',
  channels: [['ecg', [at]]],
  rate,
  reason: null,
});
/** Beats of which some are so high, in a little noise, and their rate. */
function beating(
  draws: Draws,
  hz: number,
  beats: readonly KnownBeat[],
  size = 1,
  isSmall = (_: KnownBeat, _i: number) => false,
): Made {
  const own = beats.filter((beat, i) => !isSmall(beat, i));
  const high = ecg(SECONDS, own, { hz, noise: 0.01, wander: 0.1, seed: draws.below(1e6) });
  const small = ecg(SECONDS, beats.filter(isSmall), { hz, noise: 0, wander: 0 });
  const rate = (end: number) => {
    const times = beats.flatMap(({ time, shape }) =>
      shape !== 'blocked' && time > end - 8 && time <= end ? [time] : [],
    );
    return times.length < 2 ? Number.NaN : (60 * (times.length - 1)) / ((times.at(-1) ?? 0) - (times[0] ?? 0));
  };
  return lead(rate, (_, i) => (high[i] ?? 0) + size * (small[i] ?? 0));
}
function regular(draws: Draws, low: number, high: number): KnownBeat[] {
  const mean = draws.uniform(low, high);
  return rhythm(SECONDS, () => mean * draws.uniform(0.98, 1.02));
}

/** A light without a breath: its respiratory rate has a reason. */
const light = (
  at: At,
  reason: CoreReason | null,
  estimator: Estimator = 'rr_ppg',
  rate: Made['rate'] = none,
): Made => ({
  ...{ estimator, channels: [['ppg_green', [at]]], rate, reason },
});
function pulses(draws: Draws, level: number, height: number): At {
  const [bpm, grain] = [draws.uniform(50, 110), draws.uniform(0.005, 0.02)];
  return (t) => level - height * (pulse((bpm / 60) * t + 0.1 * sine(0.03, t)) + grain * draws.normal());
}
/** A light that breathes and swings, and an accelerometer; the rate by that of the breath, per minute. */
function worn(draws: Draws, rate: (breath: number) => Made['rate'], swing: At, axis: At): Made {
  const [bpm, breath] = [draws.uniform(60, 85), draws.uniform(0.2, 0.3)];
  const wave = (t: number) => sine(breath, t);
  const beats = (t: number) => (bpm / 60) * t + ((0.04 * bpm) / 60 / (2 * Math.PI * breath)) * wave(t);
  const at: At = (t, i) =>
    1e5 - 1000 * ((1 + 0.1 * wave(t)) * pulse(beats(t)) + 0.2 * wave(t) + swing(t, i)) + 10 * draws.normal();
  const axes: At[] = [(t, i) => 0.4 * axis(t, i), none, (t, i) => 1 + axis(t, i)];
  return {
    estimator: 'rr_ppg',
    channels: [
      ['ppg_green', [at]],
      ['accel', axes],
    ],
    rate: rate(60 * breath),
    reason: null,
  };
}

const HUM: readonly ((phase: number) => number)[] = [
  (p) => Math.abs(Math.sin(p)),
  Math.sin,
  (p) => Math.min(0.6, Math.sin(p)),
  (p) => Math.sign(Math.sin(p)),
  (p) => Math.max(0, Math.sin(p)),
  (p) => ((p / Math.PI) % 2) - 1,
  (p) => Math.sin(p) ** 9,
];
const bytes = Buffer.alloc(4);
const SCRAMBLED: readonly ((x: number) => number)[] = [
  (x) => bytes.readIntLE(bytes.writeIntBE(x, 0, 3) - 3, 3),
  (x) => bytes.readInt32LE(bytes.writeInt32BE(x) - 4),
  (x) => bytes.readFloatBE(bytes.writeFloatLE(x) - 4),
  (x) => bytes.readInt32LE(bytes.writeFloatLE(x) - 4),
];

/** The first of them are ECGs. */
const ECG_KINDS = 7;
const KINDS: Readonly<Record<string, (draws: Draws, hz: number, n: number) => Made>> = {
  hum: (draws, hz, n) => {
    const mains = (hz + draws.uniform(-4, 4)) / Math.round(hz / 52); // the sampling brings a harmonic down to the rate of a heart
    const [size, noise, shape] = [
      10 ** draws.uniform(2, 3.5),
      draws.uniform(0, 0.03),
      HUM[n % 2 ? 0 : n % HUM.length] ?? Math.sin,
    ];
    return lead(none, (t) => Math.round(size * (shape(2 * Math.PI * mains * t) + noise * draws.normal())));
  },
  'pacemaker alone': (draws, hz, n) => {
    const [interval, tail] = [draws.uniform(0.6, 1.1), draws.uniform(0.02, 0.2)];
    const wave = (t: number) =>
      n % 3 === 2 ? Math.exp(-t / 0.06) : t < 1 / hz ? 1 : n % 3 ? -tail * Math.exp(-t / 0.03) : 0;
    return lead(none, (t) => 1000 * wave(t % interval) + 15 * draws.normal());
  },
  'blocked beats': (draws, hz, n) => {
    const isLed = ({ time }: KnownBeat, i: number) => (n % 2 ? i % 3 === 0 : time < 30);
    const beats = regular(draws, 0.6, 0.95).map((beat, i) =>
      isLed(beat, i) ? beat : { ...beat, shape: 'blocked' as const },
    );
    const made = beating(draws, hz, beats);
    return n % 2 ? made : { ...made, rate: after(42, 0) };
  },
  'small ectopic beats': (draws, hz) => {
    const beats = withEctopics(SECONDS, draws.uniform(0.7, 1), 1 + draws.below(3));
    return beating(draws, hz, beats, draws.uniform(0.5, 0.8), ({ shape }) => shape === 'ectopic');
  },
  alternans: (draws, hz) =>
    beating(draws, hz, regular(draws, 0.35, 0.6), draws.uniform(0.15, 0.7), (_, i) => i % 2 === 1),
  'repeated frames': (draws, hz) => {
    const [frame, chance] = [Math.round(draws.uniform(0.06, 0.12) * hz), draws.uniform(0.1, 0.35)];
    const { rate, channels } = beating(draws, hz, regular(draws, 0.5, 1));
    const lost = Array.from({ length: SECONDS * hz }, () => draws.uniform(0, 1) < chance);
    return lead(rate, (t, i) => channels[0]?.[1][0]?.(t, lost[Math.floor(i / frame)] ? i - (i % frame) : i) ?? 0);
  },
  'aberrant beats': (draws, hz, n) => {
    const beats = regular(draws, 0.7, 1).map((beat, i) =>
      i % (3 + (n % 3)) ? beat : { ...beat, shape: 'ectopic' as const },
    );
    return { ...beating(draws, hz, beats), estimator: 'rr_ecg', rate: none };
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
  'taken off or dimmed': (draws, _, n) => {
    const [own, share] = [pulses(draws, 2e5, 1500), n % 2 ? draws.uniform(0.02, 0.2) : draws.uniform(0.3, 0.9)];
    const at: At = (t, i) => (t < 30 ? own(t, i) : 2e5 * share + 600 * draws.normal());
    return light(at, n % 2 ? 'no_contact' : 'noise', 'hr_ppg', after(42, 0));
  },
  lamp: (draws) => {
    const [perSecond, noise, drift] = [draws.uniform(0.3, 2), 10 ** draws.uniform(-3, -1.2), draws.uniform(0, 0.5)];
    const at: At = (t) => 1e5 + 2000 * (sine(perSecond, t) + noise * draws.normal() + drift * sine(0.03, t));
    const still: At = () => 8192 + 8 * draws.normal();
    return {
      ...light(at, 'hum', 'hr_ppg', after(20, 0)),
      channels: [
        ['ppg_green', [at]],
        ['accel', [none, none, still]],
      ],
    };
  },
  rocking: (draws) => {
    const [rate, g] = [draws.uniform(0.2, 0.6), draws.uniform(0.036, 0.14)];
    return worn(
      draws,
      () => none,
      (t) => 1.5 * sine(rate, t),
      (t) => g * sine(rate, t),
    );
  },
  'a chest that breathes': (draws) => {
    const g = draws.uniform(0.002, 0.02);
    return worn(
      draws,
      (breath) => after(45, breath),
      none,
      (t) => g * sine(0.25, t),
    );
  },
  'a turn of the wrist': (draws) => {
    const g = draws.uniform(0.05, 0.19);
    return worn(
      draws,
      (breath) => after(45, breath),
      none,
      (t) => (t > 50 ? g : 0),
    );
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
  const opened = channels.map(([modality, { length }]) => {
    const bits = modality === 'ppg_green' ? { bitDepth: 18 } : {};
    return { modality, ...bits, sampleRateHz: hz, numChannels: length };
  });
  return { set, person, curve: null, channels: opened, calls, windows };
}
