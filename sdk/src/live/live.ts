import { throwIfAborted } from '../abort.js';
import { type Clock, systemClock } from '../clock.js';
import type { Insight } from '../generated/types.gen.js';
import { ApiError, AuthenticationError, ConnectionError, mayPass } from '../rest/api-error.js';
import { newestStored, pages, type ReadHistory, readStored, SETTLED_MS } from '../rest/history.js';
import { limitFirstConnection, lostConnection, StatefulConnection } from '../socket/connection-status.js';
import { diagnose } from '../socket/diagnosis.js';
import { Backoff, type BackoffOptions, ClosedError, mayReconnect, pause } from '../socket/reconnection.js';
import { type CloseInfo, findWebSocket, parseJson, type SocketConstructor, socketUrl } from '../socket/socket.js';
import { LiveConnection } from './connection.js';
import { isLiveInsight, type LiveInsight, liveForm } from './insight.js';
import { InsightQueue, REMEMBERED_MS } from './insight-queue.js';
import { isWanted, type SubscribeOptions } from './subscribe-options.js';

interface LiveOptions extends SubscribeOptions {
  /** The service's address, as `parseAccess` gives it. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Reads missed insights. */
  readonly history: ReadHistory;
  /** Default: the runtime's WebSocket, or else that of the package `ws`. */
  readonly WebSocket?: SocketConstructor;
  /** Default: the runtime's. */
  readonly fetch?: typeof fetch;
  readonly backoff?: BackoffOptions;
  readonly clock?: Clock;
}

const BUFFER = 10_000;
const CONNECT_WITHIN_MS = 10_000;

/**
 * A live subscription to the insights of a key: `for await (const insight of subscription)`. It connects at once,
 * reconnects by itself after a lost connection and reads missed insights by REST, so that every insight published since
 * the first `subscribed` is delivered exactly once, in order for each session and type. All times are those of the
 * service's insights: it starts after the newest one stored then. The iteration ends after `close()`, or when the service
 * closes normally. It throws the signal's reason, ClosedError if the service refuses the key, and ConnectionError if there is no
 * first connection within `connectWithinMs`, or at once if something other than the service answers.
 */
export class LiveSubscription extends StatefulConnection implements AsyncIterable<LiveInsight> {
  /** Connections after the first that the service confirmed. */
  reconnects = 0;
  /** Insights that were read by REST because the socket had missed them. */
  repaired = 0;
  readonly #options: LiveOptions;
  readonly #clock: Clock;
  readonly #abort = new AbortController();
  readonly #queue: InsightQueue;
  readonly #history: ReadHistory;
  #liftLimit = () => {};
  /** Time of the first `subscribed`, ms, by the clock and by a stopwatch. Null before. */
  #begunAt: { readonly clock: number; readonly stopwatch: number } | null = null;
  /** Newest `ts` stored at the first `subscribed`, ms: what is newer belongs to the subscription. Null while unknown. */
  #start: number | null = null;
  /** The most by which the `ts` of a new insight was before the newest one that had arrived, ms. */
  #late = 0;
  /** Oldest `ts` that arrived, ms. */
  #oldest = Number.POSITIVE_INFINITY;
  /** Why missed insights could not be read on the last connection. */
  #unread: Error | null = null;
  /** Newest `ts` that the service had stored when the connection was last silent, ms. */
  #stored = Number.NEGATIVE_INFINITY;
  #done = false;
  #failure: Error | null = null;
  #waiters: (() => void)[] = [];

  /** @internal */
  constructor(options: LiveOptions) {
    super(options.onStatus);
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#queue = new InsightQueue(options.buffer ?? BUFFER, (insight) => isWanted(insight, options));
    this.#history = (query) => options.history(query, { signal: this.#abort.signal });
    const { connectWithinMs = CONNECT_WITHIN_MS } = options;
    this.#liftLimit = limitFirstConnection(this.#clock, connectWithinMs, this, (error) => this.#fail(error));
    const { signal } = options;
    const abandon = () => this.close();
    if (signal?.aborted) abandon();
    signal?.addEventListener('abort', abandon);
    this.#abort.signal.addEventListener('abort', () => signal?.removeEventListener('abort', abandon));
    this.#run()
      .catch((error: unknown) => this.#fail(asError(error)))
      .finally(() => this.close());
  }

  /** Insights that have arrived and were not read yet. */
  get buffered(): number {
    return this.#queue.length;
  }

  /**
   * Resolves when the service has confirmed the subscription: every insight published from now on is delivered.
   *
   * @throws ClosedError, ConnectionError or the signal's reason, as the iteration
   */
  async subscribed(): Promise<void> {
    await this.#until(() => this.#begunAt !== null || this.#done);
    throwIfAborted(this.#options.signal);
    if (this.#failure) throw this.#failure;
    if (this.#begunAt === null) throw new Error('the subscription has ended');
  }

  /** Ends the subscription: insights that have arrived can still be read. */
  close(): void {
    this.#done = true;
    this.#liftLimit();
    this.#abort.abort();
    try {
      this.tell('closed', this.#failure);
    } catch (error) {
      this.#failure ??= asError(error);
    }
    this.#wake();
  }

  #fail(error: Error): void {
    if (this.#done) return;
    this.#failure = error;
    this.close();
  }

  /** The insights as they arrive; leaving the loop closes the subscription. Throws ClosedError, ConnectionError or the signal's reason. */
  [Symbol.asyncIterator](): AsyncGenerator<LiveInsight> {
    const insights = this.#read();
    // By itself, a generator that waits would end after the next insight, and one that has not begun would not close.
    for (const way of ['return', 'throw'] as const) {
      const end = insights[way].bind(insights);
      insights[way] = (reason) => {
        this.close();
        return end(reason);
      };
    }
    return insights;
  }

  async *#read(): AsyncGenerator<LiveInsight> {
    for (;;) {
      await this.#until(() => this.#queue.length > 0 || this.#done);
      throwIfAborted(this.#options.signal);
      const insight = this.#queue.shift();
      if (this.#queue.length === this.#queue.limit >> 1) this.#wake();
      if (insight) yield insight;
      else if (this.#done) break; // Otherwise another iteration took it.
    }
    if (this.#failure) throw this.#failure;
  }

  async #run(): Promise<void> {
    const { baseUrl, apiKey } = this.#options;
    const WebSocket = this.#options.WebSocket ?? (await findWebSocket());
    const url = socketUrl(baseUrl, '/stream/subscribe', { api_key: apiKey });
    const backoff = new Backoff(this.#options.backoff);
    while (!this.#done) {
      const connection = new LiveConnection(new WebSocket(url), {
        signal: this.#abort.signal,
        clock: this.#clock,
        limit: this.#queue.limit,
        hasMissed: () => this.#hasMissed(),
      });
      const info = await this.#serve(connection, backoff);
      if (this.#done || info.code === 1000) return;
      if (!mayReconnect(info.code)) throw new ClosedError(info.code, info.reason);
      const error = await this.#explain(info);
      const waitMs = backoff.next();
      this.tell('waiting', error, this.#clock.now() + waitMs);
      await pause(this.#clock, waitMs, this.#abort.signal);
      await this.#until(() => this.#queue.length <= this.#queue.limit / 2 || this.#done);
      this.tell('connecting', error);
    }
  }

  /**
   * Why a connection ended.
   *
   * @throws ConnectionError if there was no first connection and something other than the service answers
   */
  async #explain(info: CloseInfo): Promise<Error> {
    if (this.#unread) return this.#unread;
    if (this.#begunAt !== null || info.code !== 1006) return lostConnection(info);
    const { error, isWrongAddress } = await diagnose(this.#options.baseUrl, this.#options, this.#abort.signal);
    if (isWrongAddress) throw error;
    return error;
  }

  /** Runs one connection: first the insights missed before it, then the new ones; resolves when it has ended. */
  async #serve(connection: LiveConnection, backoff: Backoff): Promise<CloseInfo> {
    for await (const text of connection.messages()) {
      if (await this.#handle(parseJson(text), connection, backoff)) continue;
      connection.drop();
      break;
    }
    return connection.closed;
  }

  /** False if the connection must be dropped: missed insights cannot be read now, or the consumer is too slow. */
  async #handle(message: unknown, connection: LiveConnection, backoff: Backoff): Promise<boolean> {
    if (isSubscribed(message)) {
      if (!(await this.#begin(connection))) return false;
      backoff.reset();
    } else if (isLiveInsight(message)) {
      if (this.#queue.full || this.#hasLagged(message)) return false;
      this.#queue.add(message);
      this.#wake();
    }
    return true;
  }

  /** The most by which a new insight was before the newest one or the start, ms: the clocks of gateways may differ. */
  get #lag(): number {
    return Math.max(this.#late, (this.#start ?? 0) - this.#oldest);
  }

  /**
   * Learns how far new insights are before the newest one. Returns whether an insight is so far before it that the last
   * repair did not read back far enough: the next connection begins with another one.
   */
  #hasLagged(insight: LiveInsight): boolean {
    if (this.#queue.has(insight)) return false;
    const known = this.#lag;
    this.#oldest = Math.min(this.#oldest, insight.ts);
    this.#late = Math.max(this.#late, this.#queue.newest - insight.ts);
    return this.reconnects > 0 && this.#lag > known + SETTLED_MS;
  }

  /** The service has confirmed; false if missed insights could not be read now. */
  async #begin(connection: LiveConnection): Promise<boolean> {
    this.#liftLimit();
    if (this.#begunAt === null) {
      this.#begunAt = { clock: this.#clock.now(), stopwatch: performance.now() };
      void this.#learnStart();
    } else {
      this.tell('repairing');
      if (!(await this.#repair())) return false;
      this.reconnects++;
    }
    if (!connection.dropped) this.tell('live');
    this.#wake();
    return true;
  }

  /**
   * Whether the service has stored an insight that is newer than all that arrived, or than all that it had stored at the
   * last call; cannot be reached; or does not know the key any more, which another connection will say. A key that may
   * not read cannot tell.
   */
  async #hasMissed(): Promise<boolean> {
    if (!this.connected) return false;
    const known = Math.max(this.#stored, this.#queue.newest);
    try {
      this.#stored = await newestStored(this.#history);
      return known < this.#stored && known !== Number.NEGATIVE_INFINITY;
    } catch (error) {
      return error instanceof ConnectionError || error instanceof AuthenticationError;
    }
  }

  /** Reads missed insights; false if this must be tried again on another connection. */
  async #repair(): Promise<boolean> {
    this.#unread = null;
    let since = this.#queue.newest - SETTLED_MS;
    try {
      since = await this.#firstMissed();
      for await (const batch of readStored(this.#history, since)) await this.#add(batch);
      if (this.#lag > REMEMBERED_MS)
        this.#tellHole(Number.NEGATIVE_INFINITY, new Error(`the service's clocks differ by ${this.#lag} ms`));
    } catch (error) {
      if (this.#done) return false;
      if (mayPass(error)) {
        this.#unread = error;
        return false;
      }
      if (!(error instanceof ApiError)) throw error;
      this.#tellHole(since, error);
    }
    return true;
  }

  /** @param since where it may begin; not before the subscription */
  #tellHole(since: number, cause: Error): void {
    const until = this.#clock.now();
    this.#options.onHole?.({ since: Math.max(since, until - this.#elapsed), until, cause });
  }

  /**
   * Where a repair begins, ms of `ts`: shortly before the newest insight that arrived, or as much earlier as new insights
   * were before it. If a gateway could not publish for a while and others could, it begins earlier: so it doubles its
   * reach until that adds nothing that was missed.
   */
  async #firstMissed(): Promise<number> {
    const { newest } = this.#queue;
    const start = Math.floor(await this.#findStart()) + 1;
    const lag = Math.min(this.#lag, REMEMBERED_MS);
    const earliest = Math.max(start - lag, newest - REMEMBERED_MS);
    for (let reach = lag + SETTLED_MS; ; reach *= 2) {
      const since = newest - reach;
      if (since <= earliest) return earliest;
      if (!(await this.#hasUnknown(since - reach, since))) return since;
    }
  }

  async #hasUnknown(since: number, until: number): Promise<boolean> {
    for await (const rows of pages(this.#history, { since, until }))
      if (rows.some((row) => isLiveInsight(row) && !this.#queue.has(row))) return true;
    return false;
  }

  /** Asks for the start until the service answers; a repair asks itself, and reports a refusal. */
  async #learnStart(): Promise<void> {
    const backoff = new Backoff(this.#options.backoff);
    do {
      const error = await this.#findStart().then(
        () => null,
        (caught: unknown) => caught,
      );
      if (!mayPass(error)) return;
      await pause(this.#clock, backoff.next(), this.#abort.signal);
    } while (this.connected);
  }

  /**
   * Where the subscription starts, ms of `ts`: at the newest insight stored. If the first connection is already lost,
   * insights published meanwhile may have been missed, and are among those that are stored.
   */
  async #findStart(): Promise<number> {
    if (this.#start !== null) return this.#start;
    const newest = await newestStored(this.#history);
    this.#start ??= this.connected ? newest : Math.max(0, newest - this.#elapsed);
    return this.#start;
  }

  /**
   * Time since the first `subscribed`, ms, or more: a clock may be set back, and a stopwatch stands still while the
   * machine sleeps.
   */
  get #elapsed(): number {
    if (this.#begunAt === null) return 0;
    return Math.max(this.#clock.now() - this.#begunAt.clock, performance.now() - this.#begunAt.stopwatch);
  }

  /** Takes stored insights, as fast as the consumer reads. */
  async #add(insights: readonly Insight[]): Promise<void> {
    for (const insight of insights) {
      await this.#until(() => !this.#queue.full || this.#done);
      if (this.#done) return;
      if (isLiveInsight(insight) && this.#queue.add(liveForm(insight))) this.repaired++;
      this.#wake();
    }
  }

  async #until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>((resolve) => this.#waiters.push(resolve));
  }

  #wake(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const wake of waiters) wake();
  }
}

function isSubscribed(message: unknown): boolean {
  return typeof message === 'object' && message !== null && 'status' in message && message.status === 'subscribed';
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
