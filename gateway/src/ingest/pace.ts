/** The number after a frame's last instant, and the frame's arrival time, ms. */
interface Arrival {
  readonly seq: number;
  readonly at: number;
}

/** A straight line from numbers to times. */
export interface CountedLine {
  /** A number and its time, ms. */
  readonly seq: number;
  readonly time: number;
  /** Spacing of the instants, ms. */
  readonly period: number;
}

/** The line counts as known when this much data have arrived over this much time, ms. */
const SETTLED_MS = 10_000;
/** Interval at which the line is fitted, in ms of arrival time. */
const FIT_EVERY_MS = 1000;
/**
 * Arrivals older than this are forgotten, ms: long compared with the delays of a link, short compared with the drift of
 * a crystal.
 */
const MEMORY_MS = 300_000;
const MOST_ARRIVALS = 64;
/** A rate is followed up to this factor above or below the model's. */
const MAX_FACTOR = 10;
/** Maximum lead of counted time over arrival, ms. */
export const MAX_LEAD_MS = 1000;
/**
 * The device counts as having paused if all data arrive later than the line predicts by this much, for this long, ms.
 */
const PAUSE_MS = 1000;
const PAUSED_FOR_MS = 10_000;
/** Data that arrive faster than any rate that is followed may put counted time ahead by this before they are refused, ms. */
const MAX_EXCESS_MS = 1000;
/** The excess after a refusal, ms: gone after about a second in which data come as they are measured. */
const REFUSING_MS = 10_000;

/**
 * Time of a channel without a clock: the line from numbers to times that its arrivals show. A frame may arrive late,
 * but never early. So the line lies below all arrivals and touches the earliest ones: it is the edge of their lower
 * convex hull (Moon, Skelly and Towsley, "Estimation and removal of clock skew from network delay measurements",
 * INFOCOM 1999) in the middle of the arrival times. Data that arrive late, in bursts or from storage lie above it.
 * Until the line is known, the model's rate is used. The work per frame is constant and the memory is limited.
 */
export class Pace {
  /** Vertices of the hull, ascending. */
  #hull: Arrival[] = [];
  #fittedAt = Number.NEGATIVE_INFINITY;
  #line: CountedLine;
  /** Height of the line above the hull, ms; null until the line is fitted. */
  #lead: number | null = null;
  #settled: boolean;
  #lateSince: number | null = null;
  #late = 0;

  /**
   * @param nominal the model's spacing of the instants, ms
   * @param line the start of counted time, with the spacing that was known before, or the model's
   * @param settled whether the rate was known before
   */
  constructor(
    readonly nominal: number,
    line: CountedLine,
    settled: boolean,
  ) {
    this.#line = line;
    this.#settled = settled;
  }

  get period(): number {
    return this.#line.period;
  }

  /** Whether the rate is known. */
  get settled(): boolean {
    return this.#settled;
  }

  get line(): CountedLine {
    return this.#line;
  }

  /** Time of a number, ms. */
  at(seq: number): number {
    const { seq: from, time, period } = this.#line;
    return time + (seq - from) * period;
  }

  /** Records that the instants below `seq` have arrived; numbers and times ascend. The line stays at most 1 s ahead. */
  follow(seq: number, at: number): void {
    // Before the new arrival is added: the first arrival after a silence is late.
    if (at - this.#fittedAt >= FIT_EVERY_MS) this.#fit(at);
    this.#add({ seq, at });
    const ahead = this.at(seq) - at - MAX_LEAD_MS;
    if (ahead > 0) this.#shift(-ahead);
  }

  #add(arrival: Arrival): void {
    const hull = this.#hull;
    while (hull.length > 1 && isAbove(hull.at(-1), hull.at(-2), arrival)) hull.pop();
    hull.push(arrival);
    if (hull.length > MOST_ARRIVALS || arrival.at - (hull[1]?.at ?? arrival.at) > MEMORY_MS) hull.shift();
  }

  #fit(at: number): void {
    this.#fittedAt = at;
    const [first, last] = [this.#hull[0], this.#hull.at(-1)];
    if (!first || !last || this.#isAfterPause(last)) return;
    if (last.at - first.at < SETTLED_MS || (last.seq - first.seq) * this.nominal < SETTLED_MS) return;
    const middle = (first.at + last.at) / 2;
    const right = this.#hull.findIndex((vertex) => vertex.at >= middle);
    const [from, to] = [this.#hull[right - 1], this.#hull[right]];
    if (from && to) this.#take(to, (to.at - from.at) / (to.seq - from.seq));
  }

  /** Uses an edge of the hull as the line. The first time, the line makes no step. */
  #take({ seq, at }: Arrival, slope: number): void {
    const period = Math.min(this.nominal * MAX_FACTOR, Math.max(this.nominal / MAX_FACTOR, slope));
    const newest = this.#hull.at(-1)?.seq ?? seq;
    this.#lead ??= Math.min(MAX_LEAD_MS, Math.max(0, this.at(newest) - at - (newest - seq) * period));
    this.#line = { seq, time: at + this.#lead, period };
    this.#settled = true;
  }

  /** Restarts if the device continued after a pause that its numbers do not show. */
  #isAfterPause(last: Arrival): boolean {
    const late = last.at - this.at(last.seq);
    if (late <= PAUSE_MS || late < this.#late - FIT_EVERY_MS / 2) this.#lateSince = null;
    this.#late = late;
    if (late <= PAUSE_MS || !this.#settled) return false;
    this.#lateSince ??= last.at;
    if (last.at - this.#lateSince < PAUSED_FOR_MS) return false;
    this.#shift(late);
    this.#restart(last);
    return true;
  }

  /** Lets numbers take no time, because their data were refused. */
  skip(numbers: number): void {
    this.#shift(-numbers * this.period);
    this.#restart();
  }

  /** Measures the rate again, from an arrival on. */
  #restart(...arrivals: readonly Arrival[]): void {
    this.#hull = [...arrivals];
    this.#lead = this.#lateSince = null;
    this.#settled = false;
  }

  #shift(ms: number): void {
    this.#line = { ...this.#line, time: this.#line.time + ms };
    if (this.#lead !== null) this.#lead += ms;
  }
}

/**
 * Tells stored data without stamps, which cannot be placed, from a stream: they arrive faster than the highest rate that
 * is followed. Data that arrive in a burst after a stall of the link are no excess, because counted time is behind then.
 */
export class Excess {
  /** Data that came too early, ms: a leaky bucket. */
  #level = MAX_EXCESS_MS / 2;
  #isRefusing = false;
  #at: number | null = null;

  /**
   * Observes a frame, and returns whether it must be refused. After one that was, all are until the bucket is empty again,
   * about a second after the stored data end: a frame between them would seem to acknowledge the numbers before it.
   * @param lead amount by which counted time at the frame's end would be ahead of arrival, ms
   * @param length of the frame, ms; missing numbers before it are no data
   * @param at arrival time, ms
   */
  isTooMuch(lead: number, length: number, at: number): boolean {
    const wasRefusing = this.#isRefusing;
    const added = wasRefusing ? length : Math.max(0, Math.min(lead - MAX_LEAD_MS, length));
    this.#level = Math.max(0, this.#level + added - (MAX_FACTOR - 1) * (at - (this.#at ?? at)));
    this.#at = at;
    this.#isRefusing = this.#level > MAX_EXCESS_MS;
    if (this.#isRefusing) this.#level = wasRefusing ? Math.min(this.#level, REFUSING_MS) : REFUSING_MS;
    return this.#isRefusing;
  }
}

/** Whether a vertex lies on or above the line from the previous vertex to the newest arrival. */
function isAbove(vertex: Arrival | undefined, before: Arrival | undefined, newest: Arrival): boolean {
  if (!vertex || !before) return false;
  return (vertex.at - before.at) * (newest.seq - before.seq) >= (newest.at - before.at) * (vertex.seq - before.seq);
}
