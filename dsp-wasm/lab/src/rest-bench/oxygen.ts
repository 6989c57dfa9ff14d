import { CURVE } from '../extremes-bench/bench.js';
import { recordingOf } from '../motion-bench/bench.js';
import { Draws } from '../motion-bench/random.js';
import { deviation, type Signal } from '../motion-bench/signal.js';
import type { KnownSignal } from '../score.js';

/**
 * The oxygen bench: red and infrared of pulses of 0.3 to 5 % and saturations of 70 to 100 %, with noise in each channel. What else moves the
 * light is drawn, too: a movement that no accelerometer shows, a light that changes, a converter at its end.
 */

const SECONDS = 40;
const RATES = [25, 50, 64, 100, 200] as const;
/** The ratio of a saturation, by CURVE. */
export const ratioOf = (percent: number) => (110 - percent) / 25;

/** Generates `count` recordings; the same seed gives the same ones. */
export function* oxygenBench(seed: number, count: number): Generator<KnownSignal> {
  for (let n = 0; n < count; n++) yield oxygenRecording(`oxygen-${seed}-${n}`, new Draws(seed, 7, n));
}

function oxygenRecording(id: string, draws: Draws): KnownSignal {
  const hz = RATES[draws.below(RATES.length)] ?? 50;
  const percent = draws.uniform(70, 100);
  const perfusion = logUniform(draws, 0.003, 0.05);
  const times = Float64Array.from({ length: SECONDS * hz }, (_, i) => i / hz);
  const pulse = pulses(draws, times);
  const noise = 10 ** (-draws.uniform(3, 40) / 20) * deviation(pulse) * perfusion;
  const { infrared, red } = draws.below(5) < 2 ? CALM : disturbance(draws, perfusion);
  const channel = (level: number, ratio: number, change: Change) => {
    const light = times.map((t, i) => {
      const [added, kept] = change.at(t);
      return (1 - kept * ratio * perfusion * (pulse[i] ?? 0) + added + noise * draws.normal()) * level;
    });
    return change.converted(light, level, ratio * perfusion);
  };
  return {
    set: 'oxygen bench',
    people: [],
    source: recordingOf(
      id,
      'Red and infrared light that is made',
      {
        ppg_red: [channel(draws.uniform(5e4, 2e5), ratioOf(percent), red)],
        ppg_ir: [channel(draws.uniform(5e4, 2e5), 1, infrared)],
      },
      hz,
    ),
    reference: {
      id,
      seconds: SECONDS,
      types: ['spo2'],
      windows: Array.from({ length: SECONDS - 7 }, (_, i) => ({ end: 8 + i, values: { spo2: percent } })),
    },
    curve: CURVE,
  };
}

/** A pulse's volume, 0 to 1, of 42 to 180 bpm whose intervals scatter, and a breath that moves it. */
function pulses(draws: Draws, times: Signal): Signal {
  const [bpm, scatter] = [draws.uniform(42, 180), draws.uniform(0, 1) ** 3 * 0.3];
  const [rise, second, breath] = [draws.uniform(0.12, 0.25), draws.uniform(0, 0.4), draws.uniform(0, 0.3)];
  let [phase, step] = [0, 1];
  return times.map((t, i) => {
    const before = Math.floor(phase);
    phase += i === 0 ? 0 : (step * bpm * (t - (times[i - 1] ?? 0))) / 60;
    if (Math.floor(phase) > before) step = Math.max(0.4, 1 + scatter * draws.normal());
    const x = phase % 1;
    const wave =
      Math.exp(-0.5 * (Math.log((x + 1e-3) / rise) / 0.6) ** 2) + second * Math.exp(-(((x - 0.55) / 0.12) ** 2));
    return wave + breath * Math.sin((2 * Math.PI * t) / 4);
  });
}

/** What is added to a channel, in parts of its level, how much of the pulse is left, and what its converter makes of it. */
interface Change {
  readonly at: (t: number) => readonly [added: number, kept: number];
  readonly converted: (light: Signal, level: number, size: number) => Signal;
}
interface Changes {
  readonly red: Change;
  readonly infrared: Change;
}

const whole = (light: Signal) => light.map((v) => Math.round(v));
const STEADY: Change = { at: () => [0, 1], converted: whole };
const CALM: Changes = { red: STEADY, infrared: STEADY };

const alike = (at: Change['at'], redGain = 1): Changes => ({
  infrared: { at, converted: whole },
  red: {
    at: (t) => {
      const [added, kept] = at(t);
      return [redGain * added, kept];
    },
    converted: whole,
  },
});

function disturbance(draws: Draws, perfusion: number): Changes {
  const size = perfusion * logUniform(draws, 0.05, 10);
  const from = draws.below(2) * draws.uniform(0, SECONDS);
  const kept = draws.below(2);
  const gain = draws.below(2) ? 1 : draws.uniform(0.8, 1.25);
  const moved = (wave: (t: number) => number) => alike((t) => (t < from ? [0, 1] : [size * wave(t), kept]), gain);
  switch (draws.below(8)) {
    case 0:
    case 1: {
      const [hz, second] = [draws.uniform(0.3, 3), draws.uniform(0, 0.5)];
      return moved((t) => Math.sin(2 * Math.PI * hz * t) + second * Math.sin(4 * Math.PI * hz * t + 1));
    }
    case 2:
    case 3: {
      const course = walk(draws, logUniform(draws, 0.02, 1));
      return moved((t) => course(t));
    }
    case 4: {
      const every = draws.uniform(2, 15);
      const step = size * draws.uniform(1, 10);
      return draws.below(2)
        ? alike((t) => [step * (Math.floor(t / every) % 2), kept])
        : alike((t) => [t % every < 0.1 ? step : 0, kept]);
    }
    case 5: {
      const fall = draws.uniform(1, 8);
      return alike((t) => [100 * size * Math.exp(-(t % 20) / fall), kept]);
    }
    case 6: {
      const share = draws.uniform(0.05, 0.6);
      const clipped: Change = {
        ...STEADY,
        converted: (light, level, part) => light.map((v) => Math.round(Math.max(v, level * (1 - part * share)))),
      };
      return draws.below(2) ? { red: clipped, infrared: STEADY } : { red: STEADY, infrared: clipped };
    }
    default: {
      const counts = draws.uniform(1, 12);
      const coarse: Change = {
        ...STEADY,
        converted: (light, level, part) => light.map((v) => Math.round((v * counts) / (part * level))),
      };
      return draws.below(2) ? { red: coarse, infrared: STEADY } : { red: STEADY, infrared: coarse };
    }
  }
}

/** A random course of deviation 1 with that time constant, s. */
function walk(draws: Draws, seconds: number): (t: number) => number {
  const step = 0.01;
  const keep = Math.exp(-step / seconds);
  let value = 0;
  const course = Array.from({ length: SECONDS / step + 2 }, () => {
    value = keep * value + Math.sqrt(1 - keep * keep) * draws.normal();
    return value;
  });
  return (t) => {
    const [i, part] = [Math.floor(t / step), (t / step) % 1];
    return (1 - part) * (course[i] ?? 0) + part * (course[i + 1] ?? 0);
  };
}

function logUniform(draws: Draws, low: number, high: number): number {
  return low * (high / low) ** draws.uniform(0, 1);
}
