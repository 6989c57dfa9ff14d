/**
 * The correction of beats by Lipponen and Tarvainen (J. Med. Eng. Technol. 43(3):173-181, 2019) on times instead of intervals, step by step as
 * NeuroKit2's `signal_fixpeaks(method="kubios")` does, and the variability of what it leaves.
 */

const [SLOPE, OFFSET, ALPHA, WINDOW, MEDIAN] = [0.13, 0.17, 5.2, 91, 11];

export interface Variability {
  /** ms */
  readonly rmssd: number;
  /** ms */
  readonly sdnn: number;
  /** % */
  readonly pnn50: number;
}

/** Variability of beats at these times, seconds, as they are. */
export function variabilityOf(times: readonly number[]): Variability {
  const intervals = differences(times).map((s) => 1000 * s);
  const changes = differences(intervals);
  const center = mean(intervals);
  return {
    rmssd: Math.sqrt(mean(changes.map((d) => d * d))),
    sdnn: Math.sqrt(intervals.reduce((sum, v) => sum + (v - center) ** 2, 0) / (intervals.length - 1)),
    pnn50: (100 * changes.filter((d) => Math.abs(d) > 50).length) / changes.length,
  };
}

/** The times of the beats, seconds, corrected until no correction leaves fewer artefacts. */
export function corrected(times: readonly number[]): number[] {
  if (times.length < 4) return [...times];
  let found = artefacts(times);
  let kept = correct(times, found);
  for (;;) {
    const next = artefacts(kept);
    if (count(next) >= count(found)) return kept;
    kept = correct(kept, next);
    found = next;
  }
}

interface Artefacts {
  readonly extra: readonly number[];
  readonly missed: readonly number[];
  readonly ectopic: readonly number[];
  readonly misplaced: readonly number[];
}

const count = (found: Artefacts) => Object.values(found).reduce((sum, some) => sum + some.length, 0);

function artefacts(times: readonly number[]): Artefacts {
  const after = differences(times);
  const rr = [mean(after), ...after];
  const steps = differences(rr);
  const changes = scaled([mean(steps), ...steps]);
  const medians = rr.map((_, i) => quantile(about(rr, i, MEDIAN), 0.5));
  const departures = rr.map((v, i) => v - (medians[i] ?? 0)).map((d) => (d < 0 ? 2 * d : d));
  const thresholds = thresholdsOf(departures);
  const apart = scaled(departures);
  const at = (i: number) => changes[i < 0 ? -i : i >= changes.length ? 2 * changes.length - 2 - i : i] ?? 0;
  const found = { extra: [], missed: [], ectopic: [], misplaced: [] } as Record<keyof Artefacts, number[]>;
  for (let i = 0; i < rr.length - 2; ) {
    const change = at(i);
    if (!(Math.abs(change) > 1)) {
      i++;
      continue;
    }
    const isEctopic =
      change > 0
        ? Math.max(at(i - 1), at(i + 1)) < -SLOPE * change - OFFSET
        : Math.min(at(i - 1), at(i + 1)) > -SLOPE * change + OFFSET;
    if (isEctopic) {
      found.ectopic.push(i++);
      continue;
    }
    for (const j of Math.abs(at(i + 1)) < Math.abs(at(i + 2)) ? [i, i + 1] : [i]) {
      i++;
      const isLong = at(j) > 1 && Math.min(at(j + 1), at(j + 2)) < -1;
      const isShort = at(j) < -1 && Math.max(at(j + 1), at(j + 2)) > 1;
      if (!isLong && !isShort && !(Math.abs(apart[j] ?? 0) > 3)) continue;
      const [own = 0, next = 0, middle = 0, bound = 0] = [rr[j], rr[j + 1], medians[j], thresholds[j]];
      if (isShort && Math.abs(own + next - middle) < bound) found.extra.push(j);
      else if (isLong && Math.abs(own / 2 - middle) < bound) found.missed.push(j);
      else found.misplaced.push(j);
    }
  }
  return found;
}

function correct(times: readonly number[], { extra, missed, ectopic, misplaced }: Artefacts): number[] {
  const beats = times.flatMap((time, i) => {
    const own = { time, isEctopic: ectopic.includes(i), isMisplaced: misplaced.includes(i) };
    const added = { time: ((times[i - 1] ?? 0) + time) / 2, isEctopic: false, isMisplaced: false };
    return extra.includes(i) ? [] : missed.includes(i) && i > 1 ? [added, own] : [own];
  });
  const once = moved(beats, ({ isEctopic }) => isEctopic);
  return moved(once, ({ isMisplaced }) => isMisplaced).map(({ time }) => time);
}

/** The beats, of which those that `isMoved` tells are in the middle of their neighbours. */
function moved<B extends { readonly time: number }>(beats: readonly B[], isMoved: (beat: B) => boolean): B[] {
  return beats.map((beat, i) => {
    const [before, after] = [beats[i - 1], beats[i + 1]];
    return isMoved(beat) && i > 1 && before && after ? { ...beat, time: (before.time + after.time) / 2 } : beat;
  });
}

const differences = (x: readonly number[]) => x.slice(1).map((v, i) => v - (x[i] ?? 0));
const mean = (x: readonly number[]) => x.reduce((sum, v) => sum + v, 0) / x.length;
const about = (x: readonly number[], i: number, width: number) =>
  x.slice(Math.max(0, i - (width - 1) / 2), i + (width + 1) / 2);

function quantile(x: readonly number[], share: number): number {
  const ordered = x.toSorted((a, b) => a - b);
  const at = share * (ordered.length - 1);
  const below = ordered[Math.floor(at)] ?? 0;
  return below + (at - Math.floor(at)) * ((ordered[Math.ceil(at)] ?? 0) - below);
}

function thresholdsOf(x: readonly number[]): number[] {
  const sizes = x.map(Math.abs);
  return sizes.map((_, i) => {
    const some = about(sizes, i, WINDOW);
    return (ALPHA / 2) * (quantile(some, 0.75) - quantile(some, 0.25));
  });
}

/** In parts of their thresholds; 0 where there is no variation. */
function scaled(x: readonly number[]): number[] {
  const thresholds = thresholdsOf(x);
  return x.map((v, i) => ((thresholds[i] ?? 0) > 0 ? v / (thresholds[i] ?? 1) : 0));
}
