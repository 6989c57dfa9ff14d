/** Beats of a window by its steepest slopes, as assembly/pulse/beats.ts, in plain double precision. */

const PER_MINUTE = 1920; // grid samples of 1 / 32 s

export interface Train {
  readonly rate: number;
  readonly spread: number;
  readonly intervals: number;
  readonly times: readonly number[];
  readonly optical: readonly number[];
}

export interface Beats {
  /** From all optical channels. */
  readonly rate: number;
  /** How alike the beats of the most regular optical channel are, and how many intervals it has. */
  readonly likeness: number;
  readonly intervals: number;
  /** The most regular optical channel. */
  readonly best: readonly number[];
}

/** Null where no optical channel has two intervals. */
export function beats(opticals: readonly number[][], bpm: number): Beats | null {
  const trains = [1, -1]
    .flatMap((sign) => opticals.map((optical) => train(optical, bpm, sign)))
    .filter((t): t is Train => t !== null);
  const best = trains.reduce<Train | null>((a, b) => (a === null || b.spread < a.spread ? b : a), null);
  if (best === null) return null;
  const weights = trains.map(({ spread }) => (spread + 0.02) ** -2);
  const rate = sum(trains.map((t, i) => t.rate * (weights[i] ?? 0))) / sum(weights);
  return { rate, likeness: likeness(best, bpm), intervals: best.intervals, best: best.optical };
}

function train(optical: readonly number[], bpm: number, sign: number): Train | null {
  const period = PER_MINUTE / bpm;
  const peaks = findPeaks(
    slopes(optical, bpm).map((v) => sign * v),
    0.6 * period,
  );
  const times = peaks.map(({ time }) => time);
  const intervals = times
    .slice(1)
    .map((t, i) => t - (times[i] ?? 0))
    .filter((v) => v <= 1.6 * period);
  if (intervals.length < 2) return null;
  const spread = variation(intervals) + variation(peaks.map(({ height }) => height));
  const mean = intervals.length / sum(intervals);
  return {
    rate: (PER_MINUTE * (mean + beatsPerCell(times, period))) / 2,
    spread,
    intervals: intervals.length,
    times,
    optical,
  };
}

/** Slope of the least-squares line of the beats' numbers over their times. */
function beatsPerCell(times: readonly number[], period: number): number {
  let number = 0;
  const numbers = times.map((t, i) => {
    const interval = t - (times[i - 1] ?? t);
    if (i > 0) number += interval > 1.6 * period ? Math.round(interval / period) : 1;
    return number;
  });
  const mean = sum(times) / times.length;
  const [products, squares] = [
    sum(times.map((t, i) => (t - mean) * (numbers[i] ?? 0))),
    sum(times.map((t) => (t - mean) ** 2)),
  ];
  return products / squares;
}

function slopes(x: readonly number[], bpm: number): number[] {
  const sigma = (0.21 * PER_MINUTE) / bpm;
  const reach = Math.min(32, Math.ceil(2.5 * sigma));
  const at = (i: number) => x[Math.min(x.length - 1, Math.max(0, i))] ?? 0;
  return x.map((_, i) => {
    const terms = Array.from({ length: reach }, (_, j) => {
      const u = (j + 1) / sigma;
      return u * Math.exp(-0.5 * u * u) * (at(i + j + 1) - at(i - j - 1));
    });
    return sum(terms);
  });
}

interface Peak {
  readonly time: number;
  readonly height: number;
}

function findPeaks(y: readonly number[], spacing: number): Peak[] {
  const least = 0.05 * Math.max(...y.map(Math.abs));
  const peaks: Peak[] = [];
  for (let i = 1; i < y.length - 1; i++) {
    const [a, b, c] = [y[i - 1] ?? 0, y[i] ?? 0, y[i + 1] ?? 0];
    if (!(b > least && b >= a && b > c)) continue;
    const peak = { time: i + (0.5 * (a - c)) / (a - 2 * b + c), height: b };
    const last = peaks.at(-1);
    if (last === undefined || peak.time - last.time >= spacing) peaks.push(peak);
    else if (peak.height > last.height) peaks[peaks.length - 1] = peak;
  }
  return peaks;
}

/** Mean correlation of each whole beat with the sum of the others. */
function likeness({ times, optical }: Train, bpm: number): number {
  const length = Math.min(64, Math.floor(PER_MINUTE / bpm));
  const waves = times
    .map((t) => Math.floor(t + 0.5) - Math.floor(length / 2))
    .filter((from) => from >= 0 && from + length <= optical.length)
    .map((from) => unit(optical.slice(from, from + length)));
  if (waves.length < 3) return 0;
  const total = Array.from({ length }, (_, j) => sum(waves.map((w) => w[j] ?? 0)));
  return sum(waves.map((w) => dot(w, unitLength(total.map((v, j) => v - (w[j] ?? 0)))))) / waves.length;
}

function unit(x: readonly number[]): number[] {
  const mean = sum(x) / x.length;
  return unitLength(x.map((v) => v - mean));
}

function unitLength(x: readonly number[]): number[] {
  const length = Math.sqrt(Math.max(1e-30, dot(x, x)));
  return x.map((v) => v / length);
}

const dot = (a: readonly number[], b: readonly number[]) => sum(a.map((v, i) => v * (b[i] ?? 0)));

export function sum(x: readonly number[]): number {
  return x.reduce((a, b) => a + b, 0);
}

function variation(x: readonly number[]): number {
  const mean = sum(x) / x.length;
  return Math.sqrt(sum(x.map((v) => (v - mean) ** 2)) / x.length) / mean;
}
