import type { Clock } from '@device-insights/fanout/platform/clock';
import { deferred } from '@device-insights/fanout/platform/promises';
import type { BeatBlock } from '../beat.js';
import { ForwardClock } from '../forward-clock.js';
import { type InsightType, publishedAt, type Reading } from '../insight.js';
import type { LastInsights, Session, SessionCommit, SessionProgress } from '../store/store.js';

/** A session, as the publisher needs it. */
export interface PublishedSession extends Pick<Session, 'id' | 'accountId' | 'user' | 'gateway' | 'epoch'> {
  /** The newest published insight of each type, at the opening (empty for a new session). */
  readonly last: LastInsights;
  /**
   * The session's readings wait for this, which never rejects: the insights of the previous owner are published first.
   */
  readonly after?: Promise<void>;
}

/** The part of a group that comes from one stream. */
export interface Part {
  readonly stream: Stream;
  /** The data for the store to commit: the stamped readings, in the order of their arrival. */
  readonly commit: SessionCommit;
  readonly readings: readonly Numbered<Reading>[];
  readonly beats: readonly Numbered<BeatBlock>[];
  readonly progress: Numbered<SessionProgress> | null;
}

/** An entry with its arrival number, by which `flushed` knows the entries before it. */
interface Numbered<T> {
  readonly n: number;
  readonly value: T;
}

/** The stamps of one type of insight. */
interface Stamps {
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
  readonly #disowned = deferred<'taken' | 'closed'>();
  /**
   * Resolves if another gateway has taken the session, so that the queued readings are dropped, or if it took this one for
   * dead and closed the session: then what is queued is still stored and published, but no further data may be received.
   */
  readonly disowned = this.#disowned.promise;
  readonly #stamps = new Map<InsightType, Stamps>();
  #queue: Numbered<Reading>[] = [];
  #beats: Numbered<BeatBlock>[] = [];
  /** Parts that are being stored or published. */
  readonly #taken = new Set<Part>();
  #progress: Numbered<SessionProgress> | null = null;
  #count = 0;
  #flushes: Numbered<() => void>[] = [];
  #open = true;
  #held: boolean;

  /**
   * @param clock the publication's clock, which never goes back
   * @param added called for everything that is added, with the number of readings in it
   */
  constructor(
    readonly session: PublishedSession,
    private readonly clock: Pick<Clock, 'now' | 'monotonic'>,
    private readonly added: (stream: Stream, readings: number) => void,
  ) {
    this.#held = session.after !== undefined;
    void session.after?.then(() => {
      this.#held = false;
      this.added(this, 0);
    });
  }

  /** Readings that wait to be published. */
  get length(): number {
    return this.#queue.length;
  }

  publish(reading: Reading): void {
    if (!this.#open) return;
    this.#queue.push({ n: ++this.#count, value: reading });
    this.added(this, 1);
  }

  /** Stores a block of beats with the next commit; it is not published. */
  keep(block: BeatBlock): void {
    if (!this.#open) return;
    this.#beats.push({ n: ++this.#count, value: block });
    this.added(this, 0);
  }

  /** Records progress with the next commit (only the newest is kept). */
  record(progress: SessionProgress): void {
    if (!this.#open) return;
    this.#progress = { n: ++this.#count, value: progress };
    this.added(this, 0);
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
   * second. With them go all blocks of beats. Null if there is nothing.
   */
  take(room: number): Part | null {
    if (this.#held) return null;
    const counts = this.#stampable(room);
    const readings = this.#queue.splice(0, sum(counts.values()));
    const beats = this.#beats.splice(0);
    const progress = this.#progress;
    if (readings.length === 0 && beats.length === 0 && !progress) return null;
    this.#progress = null;
    for (const [stamps, count] of counts) stamps.last = stamps.clock.now() - count;
    const insights = readings.map(({ value }) => publishedAt(value, ++this.#stampsOf(value.type).last));
    const { id: sessionId, gateway, epoch } = this.session;
    const blocks = beats.map(({ value }) => ({ ...value, ts: this.clock.now() }));
    const commit = { sessionId, gateway, epoch, insights, beats: blocks, progress: progress?.value ?? null };
    const part: Part = { stream: this, commit, readings, beats, progress };
    this.#taken.add(part);
    return part;
  }

  /** Puts a part back that was not committed; it will be stamped again. */
  putBack(part: Part): void {
    this.#taken.delete(part);
    this.#progress ??= part.progress;
    this.#queue = [...part.readings, ...this.#queue];
    this.#beats = [...part.beats, ...this.#beats];
  }

  /** Removes a part that is done: stored and published, or given up. */
  settle(part: Part): void {
    this.#taken.delete(part);
    this.#answerFlushes();
  }

  /** The session has another owner: drops the part and all waiting readings. */
  lose(part: Part): void {
    this.#open = false;
    this.#queue = [];
    this.#beats = [];
    this.#progress = null;
    this.settle(part);
    this.#disowned.resolve('taken');
  }

  /** Another gateway has closed the session. */
  noteClosed(): void {
    this.#disowned.resolve('closed');
  }

  /** How many of the first readings can be stamped now, by type. */
  #stampable(room: number): Map<Stamps, number> {
    const counts = new Map<Stamps, number>();
    for (const { value } of this.#queue.slice(0, room)) {
      const stamps = this.#stampsOf(value.type);
      const count = (counts.get(stamps) ?? 0) + 1;
      if (count > stamps.clock.now() - stamps.last) break;
      counts.set(stamps, count);
    }
    return counts;
  }

  #stampsOf(type: InsightType): Stamps {
    const known = this.#stamps.get(type);
    if (known) return known;
    const last = this.session.last[type]?.ts ?? Number.NEGATIVE_INFINITY;
    const stamps = { clock: new ForwardClock(this.clock, CATCH_UP_PACE, last), last };
    this.#stamps.set(type, stamps);
    return stamps;
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
    const taken = [...this.#taken].flatMap((part) => [part.readings[0], part.beats[0], part.progress]);
    const waiting = [this.#queue[0], this.#beats[0], this.#progress];
    return Math.min(...[...taken, ...waiting].map((each) => each?.n ?? Number.POSITIVE_INFINITY));
  }
}

function sum(counts: Iterable<number>): number {
  return [...counts].reduce((total, count) => total + count, 0);
}
