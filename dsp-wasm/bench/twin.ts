import { modulations } from '../reference/breath/modulation.js';
import { findPulses, type Pulse } from '../reference/breath/ppg_pulses.js';
import { BreathFollower, FROM_PPG } from '../reference/breath/tracker.js';
import { gridSamples } from '../reference/grid/resample.js';
import { cpuSeconds } from './clock.js';
import { CHANNELS, LOOP_SECONDS, signals } from './load.js';

/** The same session in plain TypeScript, by the twins: microseconds of processor time for a second of data. */
export function twinCost(seconds: number): number {
  const session = new TwinSession();
  let second = 0;
  for (; second < 20; second++) session.step(second);
  const start = cpuSeconds();
  for (; second < 20 + seconds; second++) session.step(second);
  return ((cpuSeconds() - start) * 1e6) / seconds;
}

/** One sub-channel: its samples repeat every LOOP_SECONDS, its grid samples grow. */
interface Line {
  readonly modality: string;
  readonly hz: number;
  readonly rate: number;
  readonly samples: readonly number[];
  readonly grid: number[];
}

class TwinSession {
  readonly #lines = lines();
  readonly #follower = new BreathFollower(FROM_PPG);
  readonly #pulses: Pulse[] = [];

  step(second: number): void {
    for (const line of this.#lines) resample(line, second);
    if (second % 2 === 1) this.#breathe(second + 1);
  }

  /** Searches the data since the last call and one second before them, and keeps 32 s of pulses. */
  #breathe(end: number): void {
    const line = this.#lines[0];
    if (!line) return;
    const found = findPulses(window(line, 3)).map((p) => ({ ...p, time: p.time + end - 3 }));
    this.#pulses.push(...found.filter((p) => p.time > (this.#pulses.at(-1)?.time ?? 0) + 0.2));
    const beats = this.#pulses.filter((p) => p.time > end - 32);
    const m = modulations({
      time: beats.map((p) => p.time - end),
      interval: beats.map((p, i) => p.time - (beats[i - 1]?.time ?? Number.NaN)),
      height: beats.map((p) => p.height),
      baseline: beats.map((p) => p.baseline),
      width: beats.map((p) => p.width),
    });
    if (!m) return;
    const series = [m.intervals, m.heights, m.baselines, m.widths].map((x) => ({
      x,
      resolution: 0.001,
      gentle: 1,
      steep: 3,
    }));
    this.#follower.follow(end, series, m.fastest, m.steadiness);
  }
}

function lines(): Line[] {
  const values = signals();
  return CHANNELS.flatMap(({ modality, sampleRateHz, numChannels }, c) =>
    Array.from({ length: numChannels }, (_, sub) => ({
      modality,
      hz: sampleRateHz,
      rate: modality === 'ecg' ? 128 : 32,
      samples: values[c]?.filter((_, i) => i % numChannels === sub) ?? [],
      grid: [],
    })),
  );
}

/** Appends the second's grid samples. */
function resample({ hz, rate, samples, grid }: Line, second: number): void {
  const from = (second % LOOP_SECONDS) * hz;
  const x = Array.from({ length: hz + 1 }, (_, i) => samples[(from + i) % samples.length] ?? 0);
  grid.push(
    ...gridSamples(
      x.map((_, i) => i / hz),
      x,
      rate,
      rate,
    ).map((v, i) => (i === 0 ? (x[0] ?? 0) : v)),
  );
}

function window({ rate, grid }: Line, seconds: number): number[] {
  const last = grid.slice(-seconds * rate);
  return [...Array.from({ length: seconds * rate - last.length }, () => Number.NaN), ...last];
}
