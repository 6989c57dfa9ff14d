import { LONGEST_WINDOW_S } from './algorithms.js';
import { BRIDGED_MS } from './sample-run.js';

/** A period of time, seconds since the session's first instant; `end` is excluded. */
export interface Interval {
  readonly start: number;
  readonly end: number;
}

/** Maximum length of a bridged gap, seconds. */
const BRIDGED_GAP = BRIDGED_MS / 1000;

/** Time that windows reach back, including the wait of steps for a late channel, seconds. */
export const MEMORY_S = LONGEST_WINDOW_S + 16;

/** An instant within this distance of a whole second counts as on it, seconds. */
const EPSILON = 1e-6;

interface Second {
  readonly second: number;
  instants: number;
}

/** The parts of a channel's time that hold data, bridged gaps, and missing values. */
export class ChannelCoverage {
  /** Data and bridged gaps; ascending, not overlapping. */
  #covered: { readonly start: number; end: number }[] = [];
  #bridged: Interval[] = [];
  /** Time without values, ascending: gaps, bridged or not, and the missing values of a run, as if they were its first. */
  readonly #gaps: { readonly start: number; end: number }[] = [];
  #seconds: Second[] = [];
  #period: number;
  #first = Number.POSITIVE_INFINITY;

  /** @param period nominal spacing of the instants, seconds */
  constructor(period: number) {
    this.#period = period;
  }

  /** Spacing of the newest instants, seconds. */
  get period(): number {
    return this.#period;
  }

  /** End of the newest data: the last instant and its period; -Infinity before the first. */
  get head(): number {
    return this.#covered.at(-1)?.end ?? Number.NEGATIVE_INFINITY;
  }

  /** Time of the first instant; Infinity before it. */
  get first(): number {
    return this.#first;
  }

  get covered(): readonly Interval[] {
    return this.#covered;
  }

  /**
   * Records a run of instants within one second of data time.
   * @param start time of the first instant
   * @param lost numbers missing directly before it
   * @param missing instants of the run without a value
   */
  add(start: number, period: number, instants: number, lost: number, missing: number): void {
    this.#period = period;
    this.#first = Math.min(this.#first, start);
    this.#cover(start, start + instants * period, lost);
    if (missing > 0) this.#leave(start, start + missing * period);
    const second = Math.floor(start + EPSILON);
    const last = this.#seconds.at(-1);
    if (last && last.second >= second) last.instants += instants;
    else this.#seconds.push({ second, instants });
  }

  /** Starts of the gaps in a window across which instants are more than `step` seconds apart, ascending. */
  gapStarts(window: Interval, step: number): number[] {
    const long = this.#gaps.filter(({ start, end }) => end - start + this.#period > step + EPSILON);
    return long.filter(({ start, end }) => end > window.start && start < window.end).map(({ start }) => start);
  }

  /** How much of a window's time has no value, seconds: gaps, bridged or not, and missing values. */
  withoutValues(window: Interval): number {
    return total(intersect(this.#gaps, [window]));
  }

  /** Instants per second of covered time in a window, with those of bridged gaps; NaN if no time is covered. */
  rate(window: Interval): number {
    let instants = total(intersect(this.#bridged, [window])) / this.#period;
    for (const s of this.#seconds) if (s.second >= window.start && s.second < window.end) instants += s.instants;
    return instants / total(intersect(this.#covered, [window]));
  }

  /** Length of the newest data in a window without a gap, seconds. */
  newest({ start, end }: Interval): number {
    const last = this.#covered.findLast((i) => i.start < end);
    return last ? Math.max(0, Math.min(last.end, end) - Math.max(last.start, start)) : 0;
  }

  /** Forgets the data that no later window can reach. */
  forget(): void {
    const horizon = this.head - MEMORY_S;
    if (isBefore(this.#covered[0], horizon)) this.#covered = this.#covered.filter((i) => i.end > horizon);
    if (isBefore(this.#bridged[0], horizon)) this.#bridged = this.#bridged.filter((i) => i.end > horizon);
    while (isBefore(this.#gaps[0], horizon)) this.#gaps.shift();
    while ((this.#seconds[0]?.second ?? horizon) < horizon) this.#seconds.shift();
  }

  #cover(start: number, end: number, lost: number): void {
    const last = this.#covered.at(-1);
    const gap = last ? start - last.end : 0;
    if (last && gap > 0 && (lost > 0 || gap > BRIDGED_GAP)) this.#leave(last.end, start);
    if (last && gap <= BRIDGED_GAP) {
      if (lost > 0 && gap > 0) this.#bridged.push({ start: last.end, end: start });
      last.end = Math.max(last.end, end);
    } else this.#covered.push({ start, end });
  }

  /** Records time without values, which goes on if it begins where the last one ends. */
  #leave(start: number, end: number): void {
    const last = this.#gaps.at(-1);
    if (last && start - last.end <= EPSILON) last.end = Math.max(last.end, end);
    else this.#gaps.push({ start, end });
  }
}

/** Share of a window's time that lies within data or bridged gaps of all these channels. */
export function windowCoverage(channels: readonly ChannelCoverage[], window: Interval): number {
  const together = channels.reduce<readonly Interval[]>((common, c) => intersect(common, c.covered), [window]);
  return Math.min(1, total(together) / (window.end - window.start));
}

/** The intersection of two ascending lists. */
function intersect(a: readonly Interval[], b: readonly Interval[]): Interval[] {
  const common: Interval[] = [];
  for (const x of a) {
    for (const y of b) {
      const start = Math.max(x.start, y.start);
      const end = Math.min(x.end, y.end);
      if (start < end) common.push({ start, end });
    }
  }
  return common;
}

function total(intervals: readonly Interval[]): number {
  return intervals.reduce((sum, { start, end }) => sum + end - start, 0);
}

function isBefore(interval: Interval | undefined, time: number): boolean {
  return interval !== undefined && interval.end <= time;
}
