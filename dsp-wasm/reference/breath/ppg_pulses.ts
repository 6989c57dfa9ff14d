/**
 * A pulse: time (seconds), height above its foot, the optical channel's mean over a second around it, and the time for which it
 * is above nine tenths of its height (seconds; NaN if unknown).
 */
export interface Pulse {
  readonly time: number;
  readonly height: number;
  readonly baseline: number;
  readonly width: number;
}

/**
 * Pulses of a whole recording in plain double precision; assembly/breath/ppg_pulses.ts finds them step by step.
 *
 * @param x optical channel, 32 grid samples a second, without gaps
 */
export function findPulses(x: readonly number[]): Pulse[] {
  const drift = movingMean(x, 16);
  const band = movingMean(x, 2).map((v, i) => v - (drift[i] ?? 0));
  const energy = band.map((v) => Math.max(0, v) ** 2);
  const level = 0.02 * (energy.reduce((sum, v) => sum + v, 0) / energy.length);
  const wide = movingMean(energy, 10);
  const above = movingMean(energy, 2).map((v, i) => v > (wide[i] ?? 0) + level);
  return apart(
    stretches(above).map(([from, to]) => highest(band, from, to)),
    band,
  ).map((k) => {
    const low = foot(band, k);
    const height = valueAt(band, k, offCentre(band, k)) - low;
    return {
      time: (k + offCentre(band, k)) / 32,
      height,
      baseline: valueAt(drift, k, offCentre(band, k)),
      width: widthAbove(band, k, low + 0.9 * height),
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

/** The higher one of two maxima less than 0.3 s (10 grid samples) apart. */
function apart(peaks: readonly number[], band: readonly number[]): number[] {
  const kept: number[] = [];
  for (const k of peaks) {
    const before = kept.at(-1);
    if (before === undefined || k - before >= 10) kept.push(k);
    else if ((band[k] ?? 0) > (band[before] ?? 0)) kept[kept.length - 1] = k;
  }
  return kept;
}

function offCentre(band: readonly number[], k: number): number {
  const [left, top, right] = [band[k - 1] ?? 0, band[k] ?? 0, band[k + 1] ?? 0];
  const bend = left - 2 * top + right;
  return bend < 0 ? Math.min(0.5, Math.max(-0.5, (0.5 * (left - right)) / bend)) : 0;
}

function foot(band: readonly number[], k: number): number {
  const part = band.slice(Math.max(0, k - 24), k + 1);
  const lowest = Math.max(0, k - 24) + part.indexOf(Math.min(...part));
  const around = [lowest - 1, lowest, lowest + 1].map((i) => -(band[i] ?? 0));
  return valueAt(band, lowest, offCentre(around, 1));
}

/** Time for which the row stays above the level about its k-th value, s; NaN if it does not cross it within 10 values on each side. */
function widthAbove(row: readonly number[], k: number, level: number): number {
  return (reach(row, k, 1, level) + reach(row, k, -1, level)) / 32;
}

/**
 * Number of grid samples from the k-th value until the row crosses the level in that direction: on a line, and then by one step of Newton's
 * method on the parabola with the mean bend of the four values about it.
 */
function reach(row: readonly number[], k: number, step: number, level: number): number {
  const at = (i: number) => row[k + step * i] ?? 0;
  const n = Array.from({ length: 11 }, (_, i) => i).find((i) => at(i) <= level) ?? 0;
  if (n === 0) return Number.NaN;
  const rise = at(n - 1) - at(n);
  const half = (at(n + 1) - at(n) - at(n - 1) + at(n - 2)) / 4;
  const t = (level - at(n)) / rise;
  return n - t - (half * t * (1 - t)) / (rise - half * (1 - 2 * t));
}

/** The value `x` grid samples after the k-th, on the parabola through it and its neighbours. */
function valueAt(row: readonly number[], k: number, x: number): number {
  const [left, middle, right] = [row[k - 1] ?? 0, row[k] ?? 0, row[k + 1] ?? 0];
  return middle + 0.5 * x * (right - left + x * (left - 2 * middle + right));
}
