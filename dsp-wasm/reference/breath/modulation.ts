/** Pulses of a window, in parallel lists: seconds from its end (negative, ascending), seconds since the previous one; what is unknown is NaN. */
export interface Beats {
  readonly time: readonly number[];
  readonly interval: readonly number[];
  readonly height: readonly number[];
  readonly baseline: readonly number[];
  readonly width: readonly number[];
}

/** Series of 4 Hz that end with the window, in parts of the median interval, mean height or mean width, and what they can show. */
interface Modulations {
  readonly intervals: number[];
  readonly heights: number[];
  readonly baselines: number[];
  readonly widths: number[];
  /** Highest rate per minute. */
  readonly fastest: number;
  /** Weight of the series: full if two of three beats have a regular interval. */
  readonly steadiness: number;
  /** Probability that they are beats, by the share of the clean ones. */
  readonly trust: number;
}

/** Effect of breathing on the pulses: the twin of assembly/breath/modulation.ts; null for fewer than eight beats. */
export function modulations(beats: Beats): Modulations | null {
  const { time, interval, height, baseline, width } = beats;
  if (time.length < 8) return null;
  const n = Math.min(128, 2 * Math.floor((-(time[0] ?? 0) * 4) / 2));
  const steady = interval.map((v, i) => {
    const usual = median(interval.slice(Math.max(0, i - 3), i + 4));
    return Math.abs(v - usual) <= 0.2 * usual;
  });
  const mean = meanOf(height);
  const clean = height.map((v, i) => !!steady[i] && (i === 0 || !!steady[i - 1]) && Math.abs(v - mean) < 0.5 * mean);
  return {
    intervals: series(time, interval, steady, n).map((v) => v / median(interval)),
    heights: series(time, height, clean, n).map((v) => v / mean),
    baselines: series(time, baseline, steady, n).map((v) => v / mean),
    widths: series(time, width, steady, n).map((v) => v / meanOf(width)),
    fastest: 30 / median(interval) - 1,
    steadiness: Math.min(1, (1.5 * steady.filter((v) => v).length) / steady.length),
    trust:
      median(interval) > 1.5 || isCyclic(steady) || isRepeated(height, mean)
        ? 0
        : Math.max(0, Math.min(1, (clean.filter((v) => v).length / clean.length - 0.35) / 0.2)),
  };
}

/** How far the beats are out of step with the samples, from 0 to 1: 0 up to that deviation from even steps, s. */
export function outOfStep({ time }: Beats, inStep: number): number {
  const spreads = [time.length >> 3, 1].map((beats) => {
    const spans = time
      .slice(beats)
      .map((t, i) => t - (time[i] ?? 0))
      .sort((a, b) => a - b);
    return ((spans[(3 * spans.length) >> 2] ?? 0) - (spans[spans.length >> 2] ?? 0)) / 2;
  });
  return Math.max(0, Math.min(1, Math.max(...spreads) / inStep - 1));
}

/** Mean of the known values. */
function meanOf(x: readonly number[]): number {
  const known = x.filter((v) => !Number.isNaN(v));
  return known.reduce((sum, v) => sum + v, 0) / known.length;
}

/** Whether the irregular beats come after equal numbers of beats. */
function isCyclic(steady: readonly boolean[]): boolean {
  const starts = steady.flatMap((v, i) => (!v && steady[i - 1] ? [i] : []));
  const cycles = starts.slice(1).map((start, i) => start - (starts[i] ?? 0));
  const equal = cycles.slice(1).filter((beats, i) => beats === cycles[i] && beats <= 5);
  return cycles.length >= 4 && equal.length >= 0.6 * (cycles.length - 1);
}

/** Whether the heights differ more than breath makes them, and are the same again three to five beats later. */
function isRepeated(height: readonly number[], mean: number): boolean {
  const [next = 0, second = 0, ...later] = [1, 2, 3, 4, 5].map((beats) => meanChange(height, beats));
  return next > 0.5 * mean && later.some((change) => change < 0.3 * Math.min(next, second));
}

/** Mean difference of the known values that are so many beats apart. */
function meanChange(x: readonly number[], beats: number): number {
  return meanOf(x.map((v, i) => Math.abs(v - (x[i - beats] ?? Number.NaN))));
}

/** Upper median of the known values. */
function median(x: readonly number[]): number {
  const known = x.filter((v) => !Number.isNaN(v)).sort((a, b) => a - b);
  return known[known.length >> 1] ?? Number.NaN;
}

/** Joins the good values by lines (all known ones if fewer than six are good), at the middle of each 1/4 s. */
function series(time: readonly number[], x: readonly number[], good: readonly boolean[], n: number): number[] {
  const points = time.map((t, i) => ({ t, v: x[i] ?? Number.NaN, good: good[i] })).filter((p) => !Number.isNaN(p.v));
  const best = points.filter((p) => p.good);
  const kept = best.length < 6 ? points : best;
  return Array.from({ length: n }, (_, i) => lineAt(kept, (i - n + 0.5) / 4));
}

function lineAt(points: readonly { t: number; v: number }[], t: number): number {
  const after = points.findIndex((p) => p.t >= t);
  const b = points[after < 0 ? points.length - 1 : after];
  const a = points[after - 1] ?? b;
  if (!a || !b) return 0;
  return after < 0 || b.t === a.t ? b.v : a.v + ((b.v - a.v) * (t - a.t)) / (b.t - a.t);
}
