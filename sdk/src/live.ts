import { ApiError } from './api-error.js';
import { type Clock, systemClock } from './clock.js';
import { parseJson } from './device-messages.js';
import type { Insight } from './generated/types.gen.js';
import { type ReadHistory, readStored, SETTLED_MS } from './history.js';
import { type InsightType, isLiveInsight, type LiveInsight, liveForm, type SqiClass } from './insight.js';
import { InsightQueue } from './insight-queue.js';
import { type LiveMessages, liveConnection } from './live-connection.js';
import { Backoff, type BackoffOptions, ClosedError, mayReconnect, pause } from './reconnection.js';
import { type CloseInfo, findWebSocket, type SocketConstructor, socketUrl } from './socket.js';

/** Which insights are wanted; each list default: all. */
export interface LiveFilter {
  readonly devices?: readonly string[];
  readonly sessions?: readonly string[];
  readonly types?: readonly InsightType[];
  /** Least quality: `acceptable` leaves out what is unfit. */
  readonly quality?: SqiClass;
}

/** A stretch of time whose insights may be missing, ms since the epoch. */
export interface Hole {
  readonly since: number;
  readonly until: number;
  readonly cause: Error;
}

export interface SubscribeOptions extends LiveFilter {
  /** Ends the subscription. */
  readonly signal?: AbortSignal;
  /** Most insights that wait for a slow consumer; then the socket is closed, and what follows is read by REST. Default 10,000. */
  readonly buffer?: number;
  /** Hears of what could not be repaired after a lost connection, because the service refused to tell. */
  readonly onHole?: (hole: Hole) => void;
}

export interface LiveOptions extends SubscribeOptions {
  /** The service's address: http(s) or ws(s). */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Reads what was missed. */
  readonly history: ReadHistory;
  /** Default: the runtime's WebSocket, else the package `ws`. */
  readonly WebSocket?: SocketConstructor;
  readonly backoff?: BackoffOptions;
  readonly clock?: Clock;
}

const QUALITY: readonly SqiClass[] = ['unfit', 'acceptable', 'excellent'];
const BUFFER = 10_000;

/**
 * A live subscription to the insights of a key: `for await (const insight of subscription)`. It connects at once, comes back by itself
 * after a lost connection and reads by REST what it missed, so that every insight published since the first `subscribed` comes exactly
 * once, in order per session and type; what a gateway that crashed had stored and not yet published comes some seconds late. The
 * iteration ends when the signal aborts or the service closes normally, and throws ClosedError where the service refuses the key.
 */
export class LiveSubscription implements AsyncIterable<LiveInsight> {
  /** Connections after the first. */
  reconnects = 0;
  /** Insights that were read by REST because the socket had missed them. */
  repaired = 0;
  readonly #options: LiveOptions;
  readonly #clock: Clock;
  readonly #abort = new AbortController();
  readonly #queue: InsightQueue;
  /** This client's clock at the first `subscribed`, ms; null before. */
  #begunAt: number | null = null;
  /** The same by the service's clock, ms, once it is known. */
  #begun: number | null = null;
  #connected = false;
  #done = false;
  #failure: Error | null = null;
  #waiters: (() => void)[] = [];

  constructor(options: LiveOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#queue = new InsightQueue(options.buffer ?? BUFFER, (insight) => isWanted(insight, options));
    if (options.signal?.aborted) this.close();
    options.signal?.addEventListener('abort', () => this.close(), { signal: this.#abort.signal });
    this.#run()
      .catch((error: unknown) => {
        this.#failure = error instanceof Error ? error : new Error(String(error));
      })
      .finally(() => this.close());
  }

  /** Whether insights arrive at this moment, with none missing before them. */
  get connected(): boolean {
    return this.#connected;
  }

  /** Insights that have arrived and were not read yet. */
  get buffered(): number {
    return this.#queue.length;
  }

  /** Resolves when the service has confirmed the subscription: every insight published from now on comes. */
  async subscribed(): Promise<void> {
    await this.#until(() => this.#begunAt !== null || this.#done);
    if (this.#failure) throw this.#failure;
    if (this.#begunAt === null) throw new Error('the subscription has ended');
  }

  /** Ends the subscription: what has arrived can still be read. */
  close(): void {
    this.#done = true;
    this.#abort.abort();
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<LiveInsight> {
    try {
      for (;;) {
        await this.#until(() => this.#queue.length > 0 || this.#done);
        const insight = this.#queue.shift();
        if (!insight) break;
        if (this.#queue.length === this.#queue.limit >> 1) this.#wake();
        yield insight;
      }
      if (this.#failure) throw this.#failure;
    } finally {
      this.close();
    }
  }

  async #run(): Promise<void> {
    const { baseUrl, apiKey } = this.#options;
    const WebSocket = this.#options.WebSocket ?? (await findWebSocket());
    const url = socketUrl(baseUrl, '/stream/subscribe', { api_key: apiKey });
    const backoff = new Backoff(this.#options.backoff);
    while (!this.#done) {
      const connection = liveConnection(new WebSocket(url), this.#abort.signal, this.#clock, this.#queue.limit);
      const { code, reason } = await this.#serve(connection, backoff);
      this.#connected = false;
      if (this.#done || code === 1000) return;
      if (!mayReconnect(code)) throw new ClosedError(code, reason);
      await pause(this.#clock, backoff.next(), this.#abort.signal);
      await this.#until(() => this.#queue.length <= this.#queue.limit / 2 || this.#done);
      this.reconnects++;
    }
  }

  /** Lives through one connection: first what was missed before it, then what comes; resolves when it is over. */
  async #serve(connection: LiveMessages, backoff: Backoff): Promise<CloseInfo> {
    for await (const text of connection.messages) {
      if (await this.#handle(parseJson(text), connection, backoff)) continue;
      connection.drop();
      break;
    }
    return connection.closed;
  }

  /** False where the connection is to be given up: what was missed cannot be read now, or the consumer is too slow. */
  async #handle(message: unknown, connection: LiveMessages, backoff: Backoff): Promise<boolean> {
    if (isSubscribed(message)) {
      if (!(await this.#begin(connection))) return false;
      backoff.reset();
    } else if (isLiveInsight(message)) {
      if (this.#queue.full) return false;
      this.#queue.add(message);
      this.#wake();
    }
    return true;
  }

  /** The service has confirmed; false where what was missed could not be read now. */
  async #begin(connection: LiveMessages): Promise<boolean> {
    const first = this.#begunAt === null;
    this.#begunAt ??= this.#clock.now();
    if (!first && !(await this.#repair())) return false;
    this.#connected = !connection.dropped;
    this.#wake();
    return true;
  }

  /** Reads what was missed; false where that has to be tried again on another connection. */
  async #repair(): Promise<boolean> {
    const { history, onHole } = this.#options;
    let since = this.#queue.newest - SETTLED_MS;
    try {
      const { serverTime } = await history({ limit: 1 });
      // The Date header tells whole seconds.
      this.#begun ??= serverTime - 1000 - (this.#clock.now() - (this.#begunAt ?? 0));
      since = Math.max(since, this.#begun);
      for await (const batch of readStored(history, since)) await this.#add(batch);
      return true;
    } catch (error) {
      if (!(error instanceof ApiError) || error.status >= 500 || error.status === 429) return false;
      onHole?.({ since, until: this.#clock.now(), cause: error });
      return true;
    }
  }

  /** Takes stored insights, as fast as the consumer reads. */
  async #add(insights: readonly Insight[]): Promise<void> {
    for (const insight of insights) {
      await this.#until(() => !this.#queue.full || this.#done);
      if (this.#done) return;
      if (this.#queue.add(liveForm(insight))) this.repaired++;
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

function isWanted(insight: LiveInsight, { devices, sessions, types, quality = 'unfit' }: LiveFilter): boolean {
  return (
    (devices?.includes(insight.device_id) ?? true) &&
    (sessions?.includes(insight.session_id) ?? true) &&
    (types?.includes(insight.type) ?? true) &&
    QUALITY.indexOf(insight.sqi_class) >= QUALITY.indexOf(quality)
  );
}
