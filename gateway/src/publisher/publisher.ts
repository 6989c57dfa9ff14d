import type { Bus, BusMessage } from '@device-insights/fanout/bus';
import type { Clock } from '@device-insights/fanout/platform/clock';
import type { Log } from '@device-insights/fanout/platform/log';
import { ForwardClock } from '../forward-clock.js';
import { liveForm } from '../insight.js';
import { type InsightStore, type SessionCommitResult, StoreRefused } from '../store/store.js';
import { CATCH_UP_PACE, type Part, type PublishedSession, Stream } from './stream.js';

interface PublisherOptions {
  readonly store: Pick<InsightStore, 'commit'>;
  readonly bus: Pick<Bus, 'publish' | 'declareLoss'>;
  readonly clock: Clock;
  readonly log: Log;
  /** Number of queued readings, of all sessions, at which devices are paused. Default 20,000 (about 8 MB). */
  readonly maxQueued?: number;
  /** Minimum time from the start of one commit to that of the next, ms. Default 2. */
  readonly restMs?: number;
}

/** Maximum number of readings in one group: with 100 ms per sync, as on a busy disk, still 20,000 per second. */
const GROUP = 2000;
/**
 * Maximum number of readings of one session in a group: their stamps reach back at most 200 ms, and a back-fill leaves room for
 * others.
 */
const SHARE = 200;
/** Wait of the remaining readings of a session and type that arrived faster than one per ms, ms. */
const STAMP_WAIT_MS = 10;
const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 2000;

/**
 * Stores the readings of a gateway process, then publishes them. Commits are grouped: a commit starts at once when none is
 * in flight and none has just been, and readings that arrive until then form the next group. On a fast disk it
 * would otherwise start for almost every reading, and cost more than the reading. Sets the publication stamps, and guarantees that an
 * insight is stored before it is published.
 */
export class Publisher {
  readonly #maxQueued: number;
  readonly #restMs: number;
  /** The clock of the stamps: later publications get later stamps, also when the wall clock is set back. */
  readonly #stamps: ForwardClock;
  /** Streams with readings to publish, in order of arrival. */
  readonly #waiting = new Set<Stream>();
  /** Readings queued or in a commit. */
  #queued = 0;
  /** Parts that are being stored or published. */
  #underWay = 0;
  #isRunning = false;
  /** When the last commit started, by the monotonic clock, ms. */
  #startedAt = Number.NEGATIVE_INFINITY;
  /** Set while those that wait have no stamps. */
  #onAdded: (() => void) | null = null;
  /** Time from the last attempt to the next one while the store is down, ms; otherwise 0. */
  #retryMs = 0;
  #reliefs: (() => void)[] = [];
  #drains: (() => void)[] = [];

  constructor(private readonly options: PublisherOptions) {
    this.#maxQueued = options.maxQueued ?? 20_000;
    this.#restMs = options.restMs ?? 2;
    this.#stamps = new ForwardClock(options.clock, CATCH_UP_PACE);
  }

  /** False while the queue is full or the store is down: devices are paused until `onRelief`. */
  get accepting(): boolean {
    return this.#retryMs === 0 && this.#queued < this.#maxQueued;
  }

  /** Readings that are not stored yet. */
  get queued(): number {
    return this.#queued;
  }

  /** Time by which the stamps are ahead of the wall clock, because it was set back, ms; 0 otherwise. */
  get aheadMs(): number {
    return this.#stamps.aheadMs;
  }

  /** Starts to accept readings of a session. */
  open(session: PublishedSession): Stream {
    return new Stream(session, this.#stamps, (stream, readings) => {
      this.#queued += readings;
      this.#waiting.add(stream);
      this.#onAdded?.();
      this.#start();
    });
  }

  /** Calls back, once, when `accepting` is true again. */
  onRelief(run: () => void): void {
    this.#reliefs.push(run);
    this.#relieve();
  }

  /**
   * The insights that another gateway had to publish for an account may be lost: its subscribers are told so before any
   * insights from here.
   */
  declareLoss(accountId: string): void {
    const { bus, log } = this.options;
    bus
      .declareLoss(accountId)
      .catch((err: unknown) =>
        log.warn({ err, accountId }, 'a possible loss of insights could not be announced on the bus'),
      );
  }

  /** Resolves when all queued readings are stored and published (or lost). */
  drain(): Promise<void> {
    return new Promise((resolve) => {
      this.#drains.push(resolve);
      this.#answerDrains();
    });
  }

  /**
   * The readings that the running callback still produces join the group; no socket is read before the group is sent.
   */
  #start(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    queueMicrotask(() => void this.#run());
  }

  /** Commits group after group while readings wait. */
  async #run(): Promise<void> {
    const { clock } = this.options;
    const pause = (ms: number) => new Promise<void>((end) => clock.after(ms, end));
    while (this.#waiting.size > 0) {
      const rest = this.#startedAt + this.#restMs - clock.monotonic();
      if (rest > 0) await pause(rest);
      this.#startedAt = clock.monotonic();
      const group = this.#take();
      if (group.length === 0) await this.#moreReadings();
      else if (!(await this.#commit(group))) await pause(this.#retryMs);
      this.#relieve();
      this.#answerDrains();
    }
    this.#isRunning = false;
  }

  /** Waits until those that wait may have stamps, or others arrive. */
  async #moreReadings(): Promise<void> {
    await new Promise<void>((end) => {
      this.#onAdded = end;
      this.options.clock.after(STAMP_WAIT_MS, end);
    });
    this.#onAdded = null;
  }

  /** A stream with more readings waits behind the others. If not all fit in, accounts take turns. */
  #take(): Part[] {
    const group: Part[] = [];
    let room = GROUP;
    for (const stream of this.#queued > GROUP ? inTurns(this.#waiting) : [...this.#waiting]) {
      if (room === 0) break;
      this.#waiting.delete(stream);
      const part = stream.take(Math.min(room, SHARE));
      if (stream.length > 0) this.#waiting.add(stream);
      if (!part) continue;
      group.push(part);
      room -= part.readings.length;
    }
    this.#underWay += group.length;
    return group;
  }

  /** Stores and publishes a group; false if the store is down, and everything that it has not stored is put back. */
  async #commit(group: readonly Part[]): Promise<boolean> {
    try {
      const results = await this.options.store.commit(group.map(({ commit }) => commit));
      if (this.#retryMs > 0) this.options.log.info({}, 'the store accepts insights again');
      this.#retryMs = 0;
      this.#publish(group, results);
      return true;
    } catch (error) {
      if (error instanceof StoreRefused) return this.#commitEach(group, error);
      this.#putBack(group);
      this.#noteDown(error);
      return false;
    }
  }

  /**
   * The store refused a group for its contents: the parts that it accepts one by one are kept, the others are given up.
   */
  async #commitEach(group: readonly Part[], error: StoreRefused): Promise<boolean> {
    this.#retryMs = 0; // The store answers again.
    const [part, ...others] = group;
    if (part && others.length === 0) this.#drop(part, error);
    else
      for (const [i, each] of group.entries()) {
        if (await this.#commit([each])) continue;
        this.#putBack(group.slice(i + 1));
        return false;
      }
    return true;
  }

  #drop(part: Part, error: StoreRefused): void {
    const { sessionId: session, insights } = part.commit;
    this.options.log.error({ err: error, session, insights }, 'the store refused insights; they are dropped');
    this.#done(part);
    this.#settle([part]);
  }

  /** Every error other than a refusal is temporary or can be repaired, so nothing is given up for it. */
  #noteDown(error: unknown): void {
    const isLong = this.#retryMs === LAST_RETRY_MS; // A disk may be full for days.
    this.#retryMs = Math.min(this.#retryMs * 2 || FIRST_RETRY_MS, LAST_RETRY_MS);
    const fields = { err: error, queued: this.#queued, retryMs: this.#retryMs };
    if (!isLong) this.options.log.warn(fields, 'the store accepts no insights; they wait in memory');
  }

  #putBack(group: readonly Part[]): void {
    for (const part of group) {
      part.stream.putBack(part);
      this.#waiting.add(part.stream);
    }
    this.#underWay -= group.length;
  }

  #publish(group: readonly Part[], results: readonly SessionCommitResult[]): void {
    const accounts = new Map<string, { messages: BusMessage[]; parts: Part[] }>();
    for (const [i, part] of group.entries()) {
      const result = results[i];
      const { accountId, user } = part.stream.session;
      this.#done(part);
      if (!result || result.lost) {
        this.#lose(part);
        continue;
      }
      if (result.closed) part.stream.noteClosed();
      const account = accounts.get(accountId) ?? { messages: [], parts: [] };
      accounts.set(accountId, account);
      for (const insight of result.written) account.messages.push({ text: JSON.stringify(liveForm(insight)), user });
      account.parts.push(part);
      // Stored by an earlier commit whose answer was lost, and not published yet.
      if (result.written.length < part.commit.insights.length) this.declareLoss(accountId);
    }
    for (const [account, { messages, parts }] of accounts) void this.#send(account, messages, parts);
  }

  /** The next commit does not wait for the bus: a bus that is down never delays storing. */
  async #send(account: string, messages: readonly BusMessage[], parts: readonly Part[]): Promise<void> {
    try {
      if (messages.length > 0) await this.options.bus.publish(account, messages);
    } catch (err) {
      // Subscribers that missed them find them by REST.
      this.options.log.error(
        { err, insights: messages.length },
        'the bus accepts no insights; they are stored but not sent live',
      );
    }
    this.#settle(parts);
    this.#answerDrains();
  }

  #lose(part: Part): void {
    const { stream } = part;
    this.options.log.warn(
      { session: stream.session.id },
      'another gateway owns the session now; the readings computed here are dropped',
    );
    this.#queued -= stream.length;
    this.#waiting.delete(stream);
    this.#underWay -= 1;
    stream.lose(part);
  }

  #done(part: Part): void {
    this.#queued -= part.readings.length;
  }

  #settle(parts: readonly Part[]): void {
    this.#underWay -= parts.length;
    for (const part of parts) part.stream.settle(part);
  }

  #relieve(): void {
    if (!this.accepting) return;
    const reliefs = this.#reliefs;
    this.#reliefs = [];
    for (const run of reliefs) run();
  }

  #answerDrains(): void {
    if (this.#waiting.size > 0 || this.#underWay > 0) return;
    const drains = this.#drains;
    this.#drains = [];
    for (const resolve of drains) resolve();
  }
}

/** The streams in an order in which their accounts take turns. */
function inTurns(streams: Iterable<Stream>): Stream[] {
  const ofAccount = new Map<string, number>();
  const rounds: Stream[][] = [];
  for (const stream of streams) {
    const { accountId } = stream.session;
    const round = ofAccount.get(accountId) ?? 0;
    ofAccount.set(accountId, round + 1);
    rounds[round] ??= [];
    rounds[round].push(stream);
  }
  return rounds.flat();
}
