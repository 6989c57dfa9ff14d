import { type InsightType, publishedAt, type Reading, type StoredInsight } from '../insight.js';
import type { SessionCommit, SessionProgress } from '../store/store.js';
import type { PublishedSession, PublishedStream } from './publisher.js';

/** What a stream gives to one group. */
export interface Part {
  readonly stream: Stream;
  /** What the store is to commit: the readings stamped, in the order in which they came. */
  readonly commit: SessionCommit;
  readonly readings: readonly Numbered<Reading>[];
  readonly progress: Numbered<SessionProgress> | null;
}

/** Something with its number of arrival, by which `flushed` knows what came before it. */
interface Numbered<T> {
  readonly n: number;
  readonly value: T;
}

/** The readings of one type. */
interface Line {
  readonly queue: Numbered<Reading>[];
  /** Newest stamp given, ms. */
  last: number;
}

/** The queue of one session: readings in, stamped parts of groups out. */
export class Stream implements PublishedStream {
  readonly session: PublishedSession;
  readonly #queued: (stream: Stream, readings: number) => void;
  readonly #lines = new Map<InsightType, Line>();
  /** Parts on their way through store and bus. */
  readonly #taken = new Set<Part>();
  #progress: Numbered<SessionProgress> | null = null;
  #count = 0;
  #flushes: Numbered<() => void>[] = [];
  #open = true;

  /** `queued` is called for everything that comes in, with the number of readings in it. */
  constructor(session: PublishedSession, queued: (stream: Stream, readings: number) => void) {
    this.session = session;
    this.#queued = queued;
  }

  /** Readings that wait to be taken. */
  get length(): number {
    let sum = 0;
    for (const line of this.#lines.values()) sum += line.queue.length;
    return sum;
  }

  publish(reading: Reading): void {
    if (!this.#open) return;
    this.#line(reading.type).queue.push({ n: ++this.#count, value: reading });
    this.#queued(this, 1);
  }

  record(progress: SessionProgress): void {
    if (!this.#open) return;
    this.#progress = { n: ++this.#count, value: progress };
    this.#queued(this, 0);
  }

  flushed(): Promise<void> {
    return new Promise((resolve) => {
      this.#flushes.push({ n: this.#count, value: resolve });
      this.#answerFlushes();
    });
  }

  close(): void {
    this.#open = false;
  }

  /**
   * Takes what can be published at `now` (ms), at most `room` readings, each type stamped with consecutive milliseconds
   * that end at `now` and begin after its newest stamp: never ahead of the clock, and 1,000 a second at most. Null where
   * there is nothing.
   */
  take(now: number, room: number): Part | null {
    const stamped = this.#stamp(now, room).sort((a, b) => a.reading.n - b.reading.n);
    const progress = this.#progress;
    if (stamped.length === 0 && !progress) return null;
    this.#progress = null;
    const { id: sessionId, gateway, epoch } = this.session;
    const insights = stamped.map(({ insight }) => insight);
    const readings = stamped.map(({ reading }) => reading);
    const commit = { sessionId, gateway, epoch, insights, progress: progress?.value ?? null };
    const part: Part = { stream: this, commit, readings, progress };
    this.#taken.add(part);
    return part;
  }

  /** Puts a part back that was not committed; it will be stamped anew. */
  putBack(part: Part): void {
    this.#taken.delete(part);
    this.#progress ??= part.progress;
    for (const reading of part.readings.toReversed()) this.#line(reading.value.type).queue.unshift(reading);
  }

  /** A part is done with: stored and published, or given up. */
  settle(part: Part): void {
    this.#taken.delete(part);
    this.#answerFlushes();
  }

  /** The session has another owner: drops the part and all that waits. */
  lose(part: Part): void {
    this.#open = false;
    this.#lines.clear();
    this.#progress = null;
    this.settle(part);
    this.session.onLost();
  }

  #line(type: InsightType): Line {
    const known = this.#lines.get(type);
    if (known) return known;
    const line: Line = { queue: [], last: this.session.last[type]?.ts ?? Number.NEGATIVE_INFINITY };
    this.#lines.set(type, line);
    return line;
  }

  #stamp(now: number, room: number): { reading: Numbered<Reading>; insight: StoredInsight }[] {
    const stamped: { reading: Numbered<Reading>; insight: StoredInsight }[] = [];
    for (const line of this.#lines.values()) {
      const count = Math.min(line.queue.length, Math.max(0, now - line.last), room - stamped.length);
      if (count === 0) continue;
      const first = now - count + 1;
      for (const [i, reading] of line.queue.splice(0, count).entries())
        stamped.push({ reading, insight: publishedAt(reading.value, first + i) });
      line.last = now;
    }
    return stamped;
  }

  #answerFlushes(): void {
    const oldest = this.#oldest();
    const answered = this.#flushes.filter(({ n }) => n < oldest);
    this.#flushes = this.#flushes.filter(({ n }) => n >= oldest);
    for (const { value: resolve } of answered) resolve();
  }

  /** Number of the oldest that is not done with. */
  #oldest(): number {
    const taken = [...this.#taken].flatMap((part) => [part.readings[0], part.progress]);
    const queued = [...this.#lines.values()].map((line) => line.queue[0]);
    return Math.min(...[...taken, ...queued, this.#progress].map((each) => each?.n ?? Number.POSITIVE_INFINITY));
  }
}
