import { BEAT_SOURCES, type Beat } from '../beat.js';

/** Maximum number of intervals of a source; a chart has fewer pixels. */
const POINTS = 4000;
/** Quality of a beat from which its intervals are shown. */
const LEAST_QUALITY = 0.5;
/** A longer interval has a beat missing, ms. */
const LONGEST_MS = 2500;

interface Interval {
  readonly t: number;
  /** Null where a beat is missing or doubtful. */
  readonly rr: number | null;
}

/** The intervals between a session's beats up to a time, by source. Of very many, stretches are left out, evenly. */
export async function tachogramsOf(batches: AsyncIterable<readonly Beat[]>, to: number | null): Promise<Tachogram[]> {
  const last = new Map<Beat['source'], Beat>();
  const found = new Map<Beat['source'], Interval[]>(BEAT_SOURCES.map((source) => [source, []]));
  for await (const batch of batches) {
    const within = to === null ? batch : batch.filter(({ t }) => t <= to);
    for (const beat of within) {
      const before = last.get(beat.source);
      last.set(beat.source, beat);
      if (before) found.get(beat.source)?.push({ t: beat.t, rr: intervalOf(before, beat) });
    }
    if (within.length < batch.length) break;
  }
  return [...found].filter(([, intervals]) => intervals.length > 0).map(([source, all]) => tachogramOf(source, all));
}

function intervalOf(before: Beat, beat: Beat): number | null {
  const rr = Number((beat.t - before.t).toFixed(1));
  return rr <= LONGEST_MS && Math.min(before.quality, beat.quality) >= LEAST_QUALITY ? rr : null;
}

/** The intervals between the beats of one source. */
export type Tachogram = ReturnType<typeof tachogramOf>;

function tachogramOf(source: Beat['source'], all: readonly Interval[]) {
  const shown = thinned(all);
  const pairs = shown.flatMap(({ rr }, i) => {
    const former = shown[i - 1]?.rr ?? null;
    return rr === null || former === null ? [] : [{ former, next: rr }];
  });
  pairs.sort((a, b) => a.former - b.former);
  return {
    source,
    /** Of each interval the time of its end, ms, and its length, ms; null where a beat before it is missing. */
    t: shown.map(({ t }) => t),
    rr: shown.map(({ rr }) => rr),
    /** Intervals that follow each other, ascending: the former, and the one after it, ms. */
    former: pairs.map(({ former }) => former),
    next: pairs.map(({ next }) => next),
    /** Number of intervals, and whether some of them are left out here. */
    intervals: all.filter(({ rr }) => rr !== null).length,
    thinned: all.length > POINTS,
  };
}

/** Evenly spaced stretches of 40 intervals, so that intervals that follow each other stay together; each ends with a gap. */
function thinned(all: readonly Interval[]): readonly Interval[] {
  if (all.length <= POINTS) return all;
  const length = 40;
  const distance = (all.length * length) / POINTS;
  return Array.from({ length: POINTS / length }, (_, i) => {
    const from = Math.floor(i * distance);
    return all.slice(from, from + length).map((each, k) => (k === 0 ? { ...each, rr: null } : each));
  }).flat();
}
