import type { Clock } from '@device-insights/fanout/platform/clock';
import { ForwardClock } from '../forward-clock.js';
import { type InsightType, publishedAt, type Reading, type StoredInsight } from '../insight.js';
import type { LastInsights, SessionCommit, SessionProgress } from '../store/store.js';

/** A session, as the publisher needs it. */
export interface PublishedSession {
  readonly id: string;
  readonly accountId: string;
  readonly user: string | null;
  readonly gateway: string;
  readonly epoch: number;
  /** The newest published insight of each type, at the opening (empty for a new session). */
  readonly last: LastInsights;
  /**
   * The session's readings wait for this, which never rejects: the insights of the previous owner are published first.
   */
  readonly after?: Promise<void>;
  /** The store gave the session to another owner: queued readings are dropped, and the socket must be closed (4009). */
  onLost(): void;
  /**
   * Another gateway took this one for dead and closed the session: what is queued is still stored and published, but no
   * further data may be received. May be called again.
   */
  onClosed(): void;
}

/** The part of a group that comes from one stream. */
export interface Part {
  readonly stream: Stream;
  /** The data for the store to commit: the stamped readings, in the order of their arrival. */
  readonly commit: SessionCommit;
  readonly readings: readonly Numbered<Reading>[];
  readonly progress: Numbered<SessionProgress> | null;
}

/** An entry with its arrival number, by which `flushed` knows the entries before it. */
interface Numbered<T> {
  readonly n: number;
  readonly value: T;
}

/** The readings of one type. */
interface Line {
  readonly queue: Numbered<Reading>[];
  /**
   * The publication's clock, or ahead of it if the newest stamp was: set by another gateway's clock, or by this one
   * before it was set back.
   */
  readonly clock: ForwardClock;
  /** Newest stamp used, ms. */
  last: number;
}

/** Speed at which stamps advance while they are ahead of the wall clock, ms per ms. */
export const CATCH_UP_PACE = 0.5;

/** The queue of one session: receives readings, returns stamped parts of groups. */
export class Stream {
  readonly session: PublishedSession;
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly #queued: (stream: Stream, readings: number) => void;
  readonly #lines = new Map<InsightType, Line>();
  /** Parts that are being stored or published. */
  readonly #taken: Part[] = [];
  #progress: Numbered<SessionProgress> | null = null;
  #count = 0;
  #length = 0;
  #flushes: Numbered<() => void>[] = [];
  #open = true;
  #held: boolean;

  /**
   * @param clock the publication's clock, which never goes back
   * @param queued called for everything that is added, with the number of readings in it
   */
  constructor(
    session: PublishedSession,
    clock: Pick<Clock, 'now' | 'monotonic'>,
    queued: (stream: Stream, readings: number) => void,
  ) {
    this.session = session;
    this.#clock = clock;
    this.#queued = queued;
    this.#held = session.after !== undefined;
    void session.after?.then(() => {
      this.#held = false;
      this.#queued(this, 0);
    });
  }

  /** Whether the stream stands in its publisher's queue; set by the publisher. */
  isWaiting = false;

  /** Readings that wait to be published. */
  get length(): number {
    return this.#length;
  }

  publish(reading: Reading): void {
    if (!this.#open) return;
    this.#line(reading.type).queue.push({ n: ++this.#count, value: reading });
    this.#length += 1;
    this.#queued(this, 1);
  }

  /** Records progress with the next commit (only the newest is kept). */
  record(progress: SessionProgress): void {
    if (!this.#open) return;
    this.#progress = { n: ++this.#count, value: progress };
    this.#queued(this, 0);
  }

  /** Resolves when everything so far is stored and published, or the session is lost. */
  flushed(): Promise<void> {
    return new Promise((resolve) => {
      this.#flushes.push({ n: this.#count, value: resolve });
      this.#answerFlushes();
    });
  }

  /** No more readings follow. */
  close(): void {
    this.#open = false;
  }

  /**
   * Takes the readings that can be published now, at most `room`. Each type is stamped with consecutive milliseconds
   * that end at the clock's time and begin after its newest stamp: never ahead of the clock, and at most 1,000 per
   * second. Null if there are none.
   */
  take(room: number): Part | null {
    if (this.#held) return null;
    const stamped = this.#stamp(room).sort((a, b) => a.reading.n - b.reading.n);
    const progress = this.#progress;
    if (stamped.length === 0 && !progress) return null;
    this.#progress = null;
    const { id: sessionId, gateway, epoch } = this.session;
    const insights = stamped.map(({ insight }) => insight);
    const readings = stamped.map(({ reading }) => reading);
    const commit = { sessionId, gateway, epoch, insights, progress: progress?.value ?? null };
    const part: Part = { stream: this, commit, readings, progress };
    this.#taken.push(part);
    return part;
  }

  /** Puts a part back that was not committed; it will be stamped again. */
  putBack(part: Part): void {
    this.#forget(part);
    this.#progress ??= part.progress;
    for (const reading of part.readings.toReversed()) this.#line(reading.value.type).queue.unshift(reading);
    this.#length += part.readings.length;
  }

  /** Removes a part that is done: stored and published, or given up. */
  settle(part: Part): void {
    this.#forget(part);
    this.#answerFlushes();
  }

  #forget(part: Part): void {
    const at = this.#taken.indexOf(part);
    if (at >= 0) this.#taken.splice(at, 1);
  }

  /** The session has another owner: drops the part and all waiting readings. */
  lose(part: Part): void {
    this.#open = false;
    this.#lines.clear();
    this.#length = 0;
    this.#progress = null;
    this.settle(part);
    this.session.onLost();
  }

  #line(type: InsightType): Line {
    const known = this.#lines.get(type);
    if (known) return known;
    const last = this.session.last[type]?.ts ?? Number.NEGATIVE_INFINITY;
    const line: Line = { queue: [], clock: new ForwardClock(this.#clock, CATCH_UP_PACE, last), last };
    this.#lines.set(type, line);
    return line;
  }

  #stamp(room: number): { reading: Numbered<Reading>; insight: StoredInsight }[] {
    const stamped: { reading: Numbered<Reading>; insight: StoredInsight }[] = [];
    for (const line of this.#lines.values()) {
      const now = line.clock.now();
      const count = Math.min(line.queue.length, Math.max(0, now - line.last), room - stamped.length);
      if (count === 0) continue;
      this.#length -= count;
      const first = now - count + 1;
      for (const [i, reading] of line.queue.splice(0, count).entries())
        stamped.push({ reading, insight: publishedAt(reading.value, first + i) });
      line.last = now;
    }
    return stamped;
  }

  #answerFlushes(): void {
    if (this.#flushes.length === 0) return;
    const oldest = this.#oldest();
    const answered = this.#flushes.filter(({ n }) => n < oldest);
    this.#flushes = this.#flushes.filter(({ n }) => n >= oldest);
    for (const { value: resolve } of answered) resolve();
  }

  /** Arrival number of the oldest entry that is not done. */
  #oldest(): number {
    const taken = this.#taken.flatMap((part) => [part.readings[0], part.progress]);
    const queued = [...this.#lines.values()].map((line) => line.queue[0]);
    return Math.min(...[...taken, ...queued, this.#progress].map((each) => each?.n ?? Number.POSITIVE_INFINITY));
  }
}
