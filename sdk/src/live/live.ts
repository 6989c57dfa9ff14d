import { onAbort, throwIfAborted } from '../clock.js';
import type { Insight } from '../generated/types.gen.js';
import { fieldsOf } from '../json.js';
import { LIVE_CLOSE_MS, LIVE_PING_MS, REMEMBERED_MS, SETTLED_MS } from '../limits.js';
import { checkOptions } from '../options.js';
import { ApiError, ConnectionError, mayPass } from '../rest/api-error.js';
import { newestStored, type ReadHistory, readPeriod, readStored } from '../rest/history.js';
import { Connection, type ConnectionOptions, PING } from '../socket/connection.js';
import { type Socket, socketUrl } from '../socket/socket.js';
import { ping } from '../socket/ws.js';
import { isLiveInsight, isTime, type LiveInsight, liveForm } from './insight.js';
import { InsightQueue } from './insight-queue.js';
import { isWanted, OPTIONS, type SubscribeOptions } from './subscribe-options.js';

const FULL = 'the buffer is full';

/**
 * A live subscription to the insights of a key: `for await (const insight of subscription)`. It connects at once,
 * reconnects by itself after a lost connection and reads missed insights by REST, so that every insight published since
 * the first `subscribed` is delivered exactly once, in order for each session and type. All times are those of the
 * service's insights: it starts after the newest one stored then. The iteration ends after `close()`, or when the service
 * closes normally. It throws the signal's reason, ClosedError if the service refuses the key, and ConnectionError if there is no
 * first connection within `connectWithinMs`, or at once if something other than the service answers.
 */
export class LiveSubscription
  extends Connection
  implements AsyncIterable<LiveInsight>, AsyncIterator<LiveInsight, undefined>
{
  /** Connections after the first that the service confirmed. */
  reconnects = 0;
  /** Insights that were read by REST because the socket had missed them. */
  repaired = 0;
  readonly #options: SubscribeOptions & ConnectionOptions;
  readonly #queue: InsightQueue;
  readonly #history: ReadHistory;
  /** Messages that arrive while missed insights are being read. Null while none are. */
  #held: Readonly<Record<string, unknown>>[] | null = null;
  #repairing: Promise<void> | undefined;
  /** Time of the first `subscribed`, ms, by the clock and by a stopwatch. Null before. */
  #begunAt: readonly [clock: number, stopwatch: number] | null = null;
  /** Newest `ts` stored at the first `subscribed`, ms: what is newer belongs to the subscription. Null while unknown. */
  #start: number | null = null;
  /** The most by which the `ts` of a new insight was before the newest one that had arrived, ms. */
  #late = 0;
  /** Oldest `ts` that arrived, ms. */
  #oldest = Infinity;
  /** Newest `ts` that the service had stored when the connection was last silent, ms. */
  #stored = -Infinity;

  /** @internal */
  constructor(settings: SubscribeOptions, sockets: ConnectionOptions, history: ReadHistory) {
    checkOptions('subscribe', settings, OPTIONS);
    const options = { ...settings, ...sockets };
    super(options, LIVE_PING_MS, LIVE_CLOSE_MS);
    this.#options = options;
    this.#queue = new InsightQueue(options.buffer ?? 10_000, (insight) => isWanted(insight, options));
    this.#history = async (query) => {
      const { data, next } = await history(query, { signal: this.ending.signal });
      return { data: data.filter(({ ts }) => isTime(ts)), next };
    };
    onAbort(
      this.ending.signal,
      onAbort(settings.signal, () => this.close()),
    );
    void this.run();
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
    await this.until(() => this.#begunAt !== null);
    throwIfAborted(this.#options.signal);
    if (this.failure || this.#begunAt === null) throw this.failure ?? new Error('the subscription has ended');
  }

  /** Ends the subscription: insights that have arrived can still be read. */
  close(): void {
    this.stop(null);
  }

  /** The insights as they arrive. Several iterations share them. */
  [Symbol.asyncIterator](): this {
    return this;
  }

  /** The next insight, once it has arrived. Throws ClosedError, ConnectionError or the signal's reason. */
  async next(): Promise<IteratorResult<LiveInsight, undefined>> {
    for (;;) {
      await this.until(() => this.#queue.length > 0);
      throwIfAborted(this.#options.signal);
      const value = this.#queue.shift();
      this.wake();
      if (value) return { value };
      if (this.over) break; // Otherwise another iteration took it.
    }
    if (this.failure) throw this.failure;
    return { done: true, value: undefined };
  }

  /** Leaving a loop calls this, which closes the subscription. */
  async return(): Promise<IteratorReturnResult<undefined>> {
    this.close();
    return { done: true, value: undefined };
  }

  /** @internal */
  protected override async address(): Promise<string> {
    const { baseUrl, apiKey } = this.#options;
    await this.until(() => this.#queue.length <= this.#queue.limit / 2);
    return socketUrl(baseUrl, 'subscribe', { api_key: apiKey });
  }

  /** @internal */
  protected override receive(data: unknown): void {
    const message = fieldsOf(data);
    if (!this.#held) this.#handle(message);
    else if (this.#held.push(message) > this.#queue.limit) this.drop(FULL);
  }

  #handle(message: Readonly<Record<string, unknown>>): void {
    if (this.dropped) return;
    if (message.status === 'subscribed') this.#repairing = this.#begin().catch((error) => this.stop(error));
    else if (isLiveInsight(message)) {
      if (this.#queue.full) this.drop(FULL);
      else if (this.#hasLagged(message)) this.drop("the service's clock was set back");
      else this.#queue.add(message);
      this.wake();
    }
  }

  /** @internal */
  protected override ping(socket: Socket): boolean {
    const isHeard = ping(socket);
    if (!isHeard) socket.send(PING);
    return isHeard;
  }

  /** @internal */
  protected override late(error: Error): void {
    this.stop(error);
  }

  /** @internal */
  protected override async left(code: number): Promise<boolean> {
    await this.#repairing;
    if (code === 1000) this.stop(null);
    return false;
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

  /** The service has confirmed: first come the insights that were missed before, then those that arrive meanwhile. */
  async #begin(): Promise<void> {
    if (this.#begunAt === null) {
      this.#begunAt = [this.clock.now(), performance.now()];
      void this.#findStart().catch(() => {}); // A repair asks again, and reports a refusal.
    } else {
      this.tell('repairing');
      this.#held = [];
      const unread = await this.#repair();
      const held = this.#held;
      this.#held = null;
      if (this.over) return;
      if (unread) return this.drop(unread);
      this.reconnects++;
      for (const message of held) this.#handle(message);
    }
    if (!this.dropped) this.tell('live');
  }

  /**
   * @internal Whether the service has stored an insight that is newer than all that arrived, or than all that it had
   * stored at the last call; cannot be reached; or does not know the key any more, which another connection will say. A
   * key that may not read cannot tell.
   */
  protected override async hasMissed(): Promise<boolean> {
    if (this.state !== 'live') return false;
    const known = Math.max(this.#stored, this.#queue.newest);
    try {
      this.#stored = await newestStored(this.#history);
      return known < this.#stored && known !== -Infinity;
    } catch (error) {
      return error instanceof ConnectionError || (error instanceof ApiError && error.status === 401);
    }
  }

  /** Reads missed insights. Returns the error after which this must be tried again on another connection, or null. */
  async #repair(): Promise<Error | null> {
    let since = this.#queue.newest - SETTLED_MS;
    try {
      since = await this.#firstMissed();
      for await (const batch of readStored(this.#history, since)) await this.#add(batch);
      if (this.#lag > REMEMBERED_MS)
        this.#tellHole(-Infinity, new Error(`the service's clocks differ by ${this.#lag} ms`));
    } catch (error) {
      if (this.over) return null;
      if (mayPass(error)) return error;
      if (!(error instanceof ApiError)) throw error;
      this.#tellHole(since, error);
    }
    return null;
  }

  /** @param since where it may begin; not before the subscription */
  #tellHole(since: number, cause: Error): void {
    const until = this.clock.now();
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
    for await (const rows of readPeriod(this.#history, { since, until }))
      if (rows.some((row) => isLiveInsight(row) && !this.#queue.has(row))) return true;
    return false;
  }

  /**
   * Where the subscription starts, ms of `ts`: at the newest insight stored. If the first connection was lost before the
   * service said this, insights published meanwhile may have been missed, and are among those that are stored; then it
   * starts earlier rather than too late.
   */
  async #findStart(): Promise<number> {
    if (this.#start !== null) return this.#start;
    const newest = await newestStored(this.#history);
    this.#start ??= this.state === 'live' ? newest : Math.max(0, newest - this.#elapsed);
    return this.#start;
  }

  /**
   * Time since the first `subscribed`, ms, or more: a clock may be set back, and a monotonic clock pauses while the
   * machine sleeps.
   */
  get #elapsed(): number {
    if (this.#begunAt === null) return 0;
    const [clock, stopwatch] = this.#begunAt;
    return Math.max(this.clock.now() - clock, performance.now() - stopwatch);
  }

  /** Takes stored insights, as fast as the consumer reads. */
  async #add(insights: readonly Insight[]): Promise<void> {
    for (const insight of insights) {
      await this.until(() => !this.#queue.full);
      if (this.over) return;
      if (isLiveInsight(insight) && this.#queue.add(liveForm(insight))) this.repaired++;
      this.wake();
    }
  }
}
