import type { Bus, BusMessage } from '@device-insights/fanout/bus';
import type { Clock, Timer } from '../clock.js';
import { liveForm } from '../insight.js';
import { type SessionCommitResult, type Store, StoreUnavailable } from '../store/store.js';
import type { PublishedSession, PublishedStream, Publisher } from './publisher.js';
import { type Part, Stream } from './stream.js';

/** What the publisher logs. */
interface Log {
  info(fields: object, text: string): void;
  warn(fields: object, text: string): void;
  error(fields: object, text: string): void;
}

export interface PublisherOptions {
  readonly store: Pick<Store, 'commit'>;
  readonly bus: Pick<Bus, 'publish'>;
  readonly clock: Clock;
  readonly log: Log;
  /** Readings, of all sessions, at which devices are to pause. Default 20,000 (some 8 MB). */
  readonly maxQueued?: number;
}

/** Readings of one group: a transaction of a few milliseconds, whose stamps reach back 200 ms at most. */
const GROUP = 200;
/** How long readings of one session and type wait that came faster than one a ms. */
const STAMP_WAIT_MS = 10;
const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 2000;
/** A bus that is down is logged this often. */
const BUS_LOG_MS = 1000;

/** Makes the publisher of a gateway process: all its sessions share one commit at a time. */
export function createPublisher(options: PublisherOptions): Publisher {
  return new GroupCommit(options);
}

class GroupCommit implements Publisher {
  readonly #options: PublisherOptions;
  readonly #maxQueued: number;
  /** Streams with something to take, first come first served. */
  readonly #waiting = new Set<Stream>();
  /** Readings queued or in a commit. */
  #queued = 0;
  /** Parts on their way through store and bus. */
  #underWay = 0;
  #scheduled = false;
  #committing = false;
  /** Set while waiting for the next stamps. */
  #stampTimer: Timer | null = null;
  /** Not 0 while the store is down: when it will be tried again, ms from the last try. */
  #retryMs = 0;
  #reliefs: (() => void)[] = [];
  #drains: (() => void)[] = [];
  #unpublished = 0;
  #busLoggedAt = Number.NEGATIVE_INFINITY;

  constructor(options: PublisherOptions) {
    this.#options = options;
    this.#maxQueued = options.maxQueued ?? 20_000;
  }

  get accepting(): boolean {
    return this.#retryMs === 0 && this.#queued < this.#maxQueued;
  }

  get queued(): number {
    return this.#queued;
  }

  open(session: PublishedSession): PublishedStream {
    return new Stream(session, (stream, readings) => {
      this.#queued += readings;
      this.#waiting.add(stream);
      if (this.#retryMs === 0) this.#schedule();
    });
  }

  onRelief(run: () => void): void {
    this.#reliefs.push(run);
    this.#relieve();
  }

  drain(): Promise<void> {
    return new Promise((resolve) => {
      this.#drains.push(resolve);
      this.#answerDrains();
    });
  }

  /** What this turn of the event loop still brings joins the group. */
  #schedule(): void {
    if (this.#scheduled || this.#committing) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#stampTimer?.cancel();
    const group = this.#take();
    if (group.length > 0) {
      this.#committing = true;
      await this.#commit(group);
      this.#committing = false;
      this.#relieve();
      this.#answerDrains();
    }
    if (this.#waiting.size === 0 || this.#retryMs > 0) return;
    if (group.length > 0) this.#schedule();
    else this.#stampTimer = this.#options.clock.after(STAMP_WAIT_MS, () => this.#schedule());
  }

  /** A stream that has more waits behind the others. */
  #take(): Part[] {
    const now = this.#options.clock.now();
    const group: Part[] = [];
    let room = GROUP;
    for (const stream of [...this.#waiting]) {
      if (room === 0) break;
      this.#waiting.delete(stream);
      const part = stream.take(now, room);
      if (stream.length > 0) this.#waiting.add(stream);
      if (!part) continue;
      group.push(part);
      room -= part.readings.length;
    }
    this.#underWay += group.length;
    return group;
  }

  async #commit(group: readonly Part[]): Promise<void> {
    try {
      const results = await this.#options.store.commit(group.map(({ commit }) => commit));
      if (this.#retryMs > 0) this.#options.log.info({}, 'the store takes insights again');
      this.#retryMs = 0;
      this.#publish(group, results);
    } catch (error) {
      if (error instanceof StoreUnavailable) this.#retryLater(group, error);
      else await this.#commitEach(group, error);
    }
  }

  /** The store refused a group for what is in it: what it takes is kept, what it does not is given up. */
  async #commitEach(group: readonly Part[], error: unknown): Promise<void> {
    const [part, ...others] = group;
    if (part && others.length > 0) for (const each of group) await this.#commit([each]);
    else if (part) {
      const { sessionId, insights } = part.commit;
      this.#options.log.error(
        { err: error, session: sessionId, insights },
        'the store refused insights; they are dropped',
      );
      this.#done(part);
      this.#settle([part]);
    }
  }

  #retryLater(group: readonly Part[], error: StoreUnavailable): void {
    const { clock, log } = this.#options;
    for (const part of group) {
      part.stream.putBack(part);
      this.#waiting.add(part.stream);
    }
    this.#underWay -= group.length;
    this.#retryMs = Math.min(this.#retryMs * 2 || FIRST_RETRY_MS, LAST_RETRY_MS);
    log.warn({ err: error, queued: this.#queued, retryMs: this.#retryMs }, 'the store takes no insights; they wait');
    clock.after(this.#retryMs, () => this.#schedule());
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
      const account = accounts.get(accountId) ?? { messages: [], parts: [] };
      accounts.set(accountId, account);
      for (const insight of result.written) account.messages.push({ text: JSON.stringify(liveForm(insight)), user });
      account.parts.push(part);
    }
    for (const [account, { messages, parts }] of accounts) void this.#send(account, messages, parts);
  }

  /** The next commit does not wait for the bus: a bus that is down never holds up what is stored. */
  async #send(account: string, messages: readonly BusMessage[], parts: readonly Part[]): Promise<void> {
    try {
      if (messages.length > 0) await this.#options.bus.publish(account, messages);
    } catch (error) {
      this.#logUnpublished(messages.length, error);
    }
    this.#settle(parts);
    this.#answerDrains();
  }

  /** They are stored: who missed them finds them by REST. */
  #logUnpublished(count: number, error: unknown): void {
    const { clock, log } = this.#options;
    this.#unpublished += count;
    if (clock.now() - this.#busLoggedAt < BUS_LOG_MS) return;
    this.#busLoggedAt = clock.now();
    log.error({ err: error, unpublished: this.#unpublished }, 'the bus takes no insights; they are stored, not sent');
  }

  #lose(part: Part): void {
    const { stream } = part;
    this.#options.log.warn({ session: stream.session.id }, 'the session has another owner; its readings are dropped');
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
