import { valueAt as polynomialAt } from '../math/quartic.js';

/**
 * A pulse: time (seconds), height above its foot, the optical channel's mean over a second around it, and the time for which it
 * is above nine tenths of its height (seconds; NaN if unknown).
 */
export interface Pulse {
  readonly time: number;
  readonly height: number;
  readonly baseline: number;
  readonly width: number;
  /** Sixth difference at its top, in parts of its height, at most 1. */
  readonly sharpness: number;
}

/**
 * Pulses of a whole recording in plain double precision; assembly/breath/ppg_pulses.ts finds them step by step.
 *
 * @param x optical channel, 32 grid samples a second, without gaps
 */
export function findPulses(x: readonly number[]): Pulse[] {
  const drift = movingMean(x, 16);
  const level = movingMean(x, 2).map((v, i) => v - (drift[i] ?? 0));
  const slopes = level.slice(1).map((v, i) => v - (level[i] ?? 0));
  const polarity = Math.sign(slopes.reduce((sum, v) => sum + v ** 3, 0)) || 1;
  const band = level.map((v) => polarity * v);
  const energy = band.map((v) => Math.max(0, v) ** 2);
  const offset = 0.02 * (energy.reduce((sum, v) => sum + v, 0) / energy.length);
  const wide = movingMean(energy, 10);
  const above = movingMean(energy, 2).map((v, i) => v > (wide[i] ?? 0) + offset);
  const peaks = onePerPulse(
    stretches(above).map(([from, to]) => highest(band, from, to)),
    band,
  );
  return peaks.map((k, i) => {
    const top = highestPlace(band, k, 1);
    const low = foot(band, k, peaks[i - 1]);
    const height = valueAt(band, k, top) - low;
    return {
      time: (k + top) / 32,
      height,
      baseline: valueAt(drift, k, top),
      width: widthAbove(band, k, low + 0.9 * height),
      sharpness: Math.min(1, Math.abs(sixthDifference(band, k)) / height),
    };
  });
}

/** Mean of the grid samples up to `half` before and after each; the ends are extended with their outermost grid samples. */
function movingMean(x: readonly number[], half: number): number[] {
  const at = (i: number) => x[Math.min(x.length - 1, Math.max(0, i))] ?? 0;
  return x.map((_, i) => {
    let sum = 0;
    for (let j = i - half; j <= i + half; j++) sum += at(j);
    return sum / (2 * half + 1);
  });
}

/** [from, to) of each run of at least three true values that ends before the last value. */
function stretches(above: readonly boolean[]): [number, number][] {
  const starts = above.flatMap((v, i) => (v && !above[i - 1] ? [i] : []));
  return starts.flatMap((from) => {
    const to = above.indexOf(false, from);
    return to - from >= 3 ? [[from, to] as [number, number]] : [];
  });
}

function highest(band: readonly number[], from: number, to: number): number {
  const part = band.slice(from, to);
  return from + part.indexOf(Math.max(...part));
}

/** Of maxima of one pulse, the highest: those less than 0.3 s (10 grid samples) apart, or with a shallow valley between them. */
function onePerPulse(peaks: readonly number[], band: readonly number[]): number[] {
  const at = (i: number) => band[i] ?? 0;
  const kept: number[] = [];
  for (const k of peaks) {
    const before = kept.at(-1);
    if (before === undefined || !isTwin(before, k)) kept.push(k);
    else if (at(k) > at(before)) kept[kept.length - 1] = k;
  }
  return kept;

  function isTwin(before: number, k: number): boolean {
    if (k - before < 10) return true;
    const valley = Math.min(...band.slice(before, k + 1));
    const height = at(before) - foot(band, before, kept.at(-2));
    return k - before < 40 && Math.min(at(before), at(k)) - valley < 0.4 * height;
  }
}

/** The lowest value between the k-th and the pulse before it, up to 40 grid samples before. */
function foot(band: readonly number[], k: number, before = 0): number {
  const from = Math.max(0, before, k - 40);
  const part = band.slice(from, k + 1);
  const lowest = from + part.indexOf(Math.min(...part));
  return valueAt(band, lowest, highestPlace(band, lowest, -1));
}

/** Time for which the row stays above the level about its k-th value, s; NaN if it does not cross it within 10 values on each side. */
function widthAbove(row: readonly number[], k: number, level: number): number {
  return (reach(row, k, 1, level) + reach(row, k, -1, level)) / 32;
}

/** Number of grid samples from the k-th value until the row crosses the level in that direction. */
function reach(row: readonly number[], k: number, step: number, level: number): number {
  const at = (i: number) => row[k + step * i] ?? 0;
  const n = Array.from({ length: 11 }, (_, i) => i).find((i) => at(i) <= level) ?? 0;
  if (n === 0) return Number.NaN;
  const nearest = (level - at(n)) / (at(n - 1) - at(n)) > 0.5 ? n - 1 : n;
  let [above, below] = [n - 1, n];
  for (let i = 0; i < 30; i++) {
    const middle = (above + below) / 2;
    if (valueAt(row, k + step * nearest, step * (middle - nearest)) > level) above = middle;
    else below = middle;
  }
  return below;
}

/** Sixth difference of the row about its k-th value. */
function sixthDifference(row: readonly number[], k: number): number {
  return [1, -6, 15, -20, 15, -6, 1].reduce((sum, c, i) => sum + c * (row[k + i - 3] ?? 0), 0);
}

/** Where the values about the k-th are highest, or lowest if the sign is negative, in thousandths of a grid sample. */
function highestPlace(row: readonly number[], k: number, sign: number): number {
  const places = Array.from({ length: 1001 }, (_, i) => (i - 500) / 1000);
  const values = places.map((t) => sign * valueAt(row, k, t));
  return places[values.indexOf(Math.max(...values))] ?? 0;
}

/** The value `t` grid samples after the k-th, on the polynomial through five values. */
function valueAt(row: readonly number[], k: number, t: number): number {
  return polynomialAt((i) => row[i] ?? 0, k, t);
}
