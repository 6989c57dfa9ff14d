import { sum } from './beats.js';

/** Beats counted one by one, as assembly/pulse/count.ts, in plain double precision. */

export interface Counted {
  readonly rate: number;
  readonly lost: number;
  readonly variation: number;
  readonly steadiness: number;
  readonly likeness: number;
  readonly skew: number;
  readonly margin: number;
  readonly shortest: number;
  readonly longest: number;
  readonly gap: number;
  readonly edge: number;
  readonly jitter: number;
  readonly intervals: readonly number[];
  readonly pairVariation: number;
  readonly evenness: number;
  readonly disorder: number;
  readonly followed: number;
  readonly withRuns: number;
}

interface Stroke {
  readonly time: number;
  readonly height: number;
}

/** Null where there are no three beats. */
export function countBeats(optical: readonly number[]): Counted | null {
  const slopes = slopesOf(optical);
  const power = sum(slopes.map((v) => v * v)) / slopes.length;
  const skew = sum(slopes.map((v) => v ** 3)) / slopes.length / Math.max(1e-30, power) ** 1.5;
  const rises = skew < 0 ? slopes.map((v) => -v) : slopes;
  const strokes = strokesOf(rises);
  if (strokes.length < 3) return null;
  const usual = usualHeight(strokes);
  const clear = clearOf(strokes, usual);
  if (clear.length < 3) return null;
  const intervals = intervalsOf(clear);
  const period = median(intervals);
  const steadiness = variation(intervals.filter((v) => v <= 1.35 * period));
  const { beats, lost } = withWeak(strokes, clear, usual, period, steadiness);
  const all = intervalsOf(beats);
  const [first, last] = [beats[0]?.time ?? 0, beats.at(-1)?.time ?? 0];
  const refused = strokes.filter((s) => !beats.includes(s) && s.time > first && s.time < last);
  const least = Math.min(...beats.map(({ height }) => height));
  return {
    rate: rateOf(beats, lost),
    lost,
    variation: variation(all),
    steadiness,
    likeness: likeness(rises, beats),
    skew: Math.abs(skew),
    margin: Math.max(0.05 * usual, ...refused.map(({ height }) => height)) / least,
    shortest: Math.min(...all),
    longest: Math.max(...all),
    gap: Math.max(...all) / period,
    edge: Math.max(first, optical.length - 1 - last) / period,
    jitter: jitter(all),
    intervals: all,
    pairVariation: variation(all.slice(1).map((v, i) => v + (all[i] ?? 0))),
    evenness: least / Math.max(...beats.map(({ height }) => height)),
    disorder: disorder(beats),
    followed: followedShare(strokes, beats, usual),
    withRuns: rateWithRuns(strokes, usual),
  };
}

/** Without the pulses of heartbeats before the window. */
function rateOf(beats: readonly Stroke[], lost: number): number {
  const own = beats.filter(({ time }, i) => lost > 0 || time >= 9.6 || i >= beats.length - 3);
  return (1920 * (own.length - 1 + lost)) / ((own.at(-1)?.time ?? 0) - (own[0]?.time ?? 0));
}

/** The least variation over one, two or three intervals, times the root of their number. */
function disorder(beats: readonly Stroke[]): number {
  const over = (span: number) => {
    const times = beats.slice(span).map(({ time }, i) => time - (beats[i]?.time ?? 0));
    return times.length < 3 && span > 1 ? Number.POSITIVE_INFINITY : Math.sqrt(span) * variation(times);
  };
  return Math.min(over(1), over(2), over(3));
}

function jitter(intervals: readonly number[]): number {
  const second = intervals.slice(1).map((v, i) => v - (intervals[i] ?? 0));
  const third = second.slice(1).map((v, i) => v - (second[i] ?? 0));
  return third.length > 0 ? Math.sqrt(sum(third.map((v) => v * v)) / (20 * third.length)) : Number.POSITIVE_INFINITY;
}

/** Share of the intervals with a weak upstroke at the same delay. */
function followedShare(strokes: readonly Stroke[], beats: readonly Stroke[], usual: number): number {
  const delays = intervalsOf(beats).flatMap((interval, k) => {
    const from = beats[k]?.time ?? 0;
    const [greatest] = strokes
      .filter(({ time, height }) => time - from >= 9 && from + interval - time >= 9 && height >= 0.05 * usual)
      .toSorted((a, b) => b.height - a.height);
    const delay = (greatest?.time ?? from) - from;
    return delay >= 15.4 && delay < 0.56 * interval ? [delay] : [];
  });
  const middle = delays.toSorted((a, b) => a - b)[delays.length >> 1] ?? 0;
  return delays.filter((v) => Math.abs(v - middle) <= 3).length / (beats.length - 1);
}

/** The rate of the strong upstrokes and of the weak ones of which at least three come in a row; 0 without such. */
function rateWithRuns(strokes: readonly Stroke[], usual: number): number {
  const isStrong = (stroke: Stroke | undefined) => stroke !== undefined && stroke.height >= 0.5 * usual;
  const apart: Stroke[] = [];
  for (const stroke of strokes) {
    const last = apart.at(-1);
    const isNear = last !== undefined && stroke.time - last.time < 9;
    if (isNear && isStrong(stroke) && !isStrong(last)) apart[apart.length - 1] = stroke;
    else if (!isNear && stroke.height >= 0.1 * usual) apart.push(stroke);
  }
  const weakAround = (i: number) => {
    const before = i - 1 - apart.findLastIndex((stroke, k) => k < i && isStrong(stroke));
    const after = apart.findIndex((stroke, k) => k > i && isStrong(stroke));
    return before + (after < 0 ? apart.length : after) - i;
  };
  const beats = apart.filter((stroke, i) => isStrong(stroke) || weakAround(i) >= 3);
  if (beats.every(isStrong)) return 0;
  return (1920 * (beats.length - 1)) / ((beats.at(-1)?.time ?? 0) - (beats[0]?.time ?? 0));
}

function slopesOf(x: readonly number[]): number[] {
  const at = (i: number) => x[Math.min(x.length - 1, Math.max(0, i))] ?? 0;
  return x.map((_, i) =>
    sum(
      [1, 2, 3, 4, 5].map((j) => {
        const u = j / 2;
        return u * Math.exp(-0.5 * u * u) * (at(i + j) - at(i - j));
      }),
    ),
  );
}

function strokesOf(y: readonly number[]): Stroke[] {
  return y.flatMap((b, i) => {
    const [a, c] = [y[i - 1] ?? Number.POSITIVE_INFINITY, y[i + 1] ?? Number.POSITIVE_INFINITY];
    return b > 0 && b >= a && b > c ? [{ time: i + (0.5 * (a - c)) / (a - 2 * b + c), height: b }] : [];
  });
}

/** Median of the steepest rises of the four quarters. */
function usualHeight(strokes: readonly Stroke[]): number {
  const tops = [0, 1, 2, 3].map((quarter) =>
    Math.max(0, ...strokes.filter(({ time }) => Math.floor(time / 64) === quarter).map(({ height }) => height)),
  );
  return median(tops);
}

function clearOf(strokes: readonly Stroke[], usual: number): Stroke[] {
  const clear: Stroke[] = [];
  for (const stroke of strokes) {
    const last = clear.at(-1);
    const since = stroke.time - (last?.time ?? Number.NEGATIVE_INFINITY);
    if (stroke.height < 0.25 * usual) continue;
    if (last && since < 9) {
      if (stroke.height > last.height) clear[clear.length - 1] = stroke;
    } else if (!last || since >= 14 || stroke.height >= 0.4 * last.height) clear.push(stroke);
  }
  return clear;
}

function withWeak(
  strokes: readonly Stroke[],
  clear: readonly Stroke[],
  usual: number,
  period: number,
  steadiness: number,
): { beats: Stroke[]; lost: number } {
  const intervals = intervalsOf(clear);
  const beats = [...clear];
  let lost = 0;
  for (const [k, pause] of intervals.entries()) {
    const [from, to] = [clear[k]?.time ?? 0, clear[k + 1]?.time ?? 0];
    if (pause <= 1.35 * period || (intervals[k - 1] ?? period) <= 0.85 * period) continue;
    const weak = strokes
      .filter(({ time }) => time > from && time < to && time - from >= 9 && to - time >= 0.9 * (time - from))
      .filter(({ height }) => height >= 0.05 * usual)
      .reduce<Stroke | null>((best, s) => (best && best.height > s.height ? best : s), null);
    if (weak && !isHabitual(strokes, clear, k, weak, period)) beats.push(weak);
    else if (pause > 1.6 * period && steadiness < 0.1) lost++;
  }
  return { beats: beats.toSorted((a, b) => a.time - b.time), lost: lost > 2 ? 0 : lost };
}

function isHabitual(
  strokes: readonly Stroke[],
  clear: readonly Stroke[],
  k: number,
  weak: Stroke,
  period: number,
): boolean {
  const delay = weak.time - (clear[k]?.time ?? 0);
  const others = intervalsOf(clear).flatMap((interval, other) =>
    other !== k && interval > delay + 6 && interval <= 1.35 * period ? [clear[other]?.time ?? 0] : [],
  );
  const alike = others.filter((from) =>
    strokes.some(({ time, height }) => Math.abs(time - from - delay) < 3 && height > 0.5 * weak.height),
  );
  return others.length > 0 && alike.length >= 0.3 * others.length;
}

function likeness(rises: readonly number[], beats: readonly Stroke[]): number {
  const waves = beats
    .map(({ time }) => Math.floor(time + 0.5) - 8)
    .filter((from) => from >= 0 && from + 16 <= rises.length)
    .map((from) => unit(rises.slice(from, from + 16)));
  if (waves.length < 3) return 0;
  const total = Array.from({ length: 16 }, (_, j) => sum(waves.map((w) => w[j] ?? 0)));
  const alike = waves.map((w) => {
    const others = unit(total.map((v, j) => v - (w[j] ?? 0)));
    return sum(w.map((v, j) => v * (others[j] ?? 0)));
  });
  return sum(alike) / alike.length;
}

function unit(x: readonly number[]): number[] {
  const length = Math.sqrt(sum(x.map((v) => v * v)) + 1e-30);
  return x.map((v) => v / length);
}

function intervalsOf(beats: readonly Stroke[]): number[] {
  return beats.slice(1).map(({ time }, i) => time - (beats[i]?.time ?? 0));
}

function median(x: readonly number[]): number {
  const sorted = x.toSorted((a, b) => a - b);
  return 0.5 * ((sorted[(x.length - 1) >> 1] ?? 0) + (sorted[x.length >> 1] ?? 0));
}

function variation(x: readonly number[]): number {
  const mean = sum(x) / x.length;
  return Math.sqrt(sum(x.map((v) => (v - mean) ** 2)) / x.length) / mean;
}
