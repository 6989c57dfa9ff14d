import { type Clock, systemClock } from './clock.js';
import { parseJson } from './device-messages.js';
import { isLiveInsight, type LiveInsight } from './insight.js';
import { Backoff, type BackoffOptions, ClosedError, mayReconnect, pause } from './reconnection.js';
import { findWebSocket, type Socket, type SocketConstructor, socketUrl } from './socket.js';

export interface LiveOptions {
  /** The service's address: http(s) or ws(s). */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Ends the subscription. */
  readonly signal?: AbortSignal;
  /** Default: the runtime's WebSocket, else the package `ws`. */
  readonly WebSocket?: SocketConstructor;
  readonly backoff?: BackoffOptions;
  readonly clock?: Clock;
}

/** Between two pings, ms: the specification (6.1.5) suggests 30 to 60 s. */
const PING_MS = 30_000;

/**
 * A live subscription to the insights of a key: `for await (const insight of subscription)`. It connects at once, and again by itself
 * after a lost connection. The iteration ends when the signal aborts or the service closes normally, and throws ClosedError
 * where the service refuses the key.
 */
export class LiveSubscription implements AsyncIterable<LiveInsight> {
  /** Connections after the first. */
  reconnects = 0;
  readonly #options: LiveOptions;
  readonly #clock: Clock;
  readonly #abort = new AbortController();
  readonly #queue: LiveInsight[] = [];
  #connected = false;
  #done = false;
  #failure: Error | null = null;
  #waiters: (() => void)[] = [];

  constructor(options: LiveOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    if (options.signal?.aborted) this.close();
    options.signal?.addEventListener('abort', () => this.close(), { signal: this.#abort.signal });
    this.#run()
      .catch((error: unknown) => {
        this.#failure = error instanceof Error ? error : new Error(String(error));
      })
      .finally(() => this.close());
  }

  /** Whether insights arrive at this moment. */
  get connected(): boolean {
    return this.#connected;
  }

  /** Resolves when the service has confirmed the subscription: every insight published from now on arrives. */
  async subscribed(): Promise<void> {
    await this.#until(() => this.#connected || this.#done);
    if (this.#failure) throw this.#failure;
    if (!this.#connected) throw new Error('the subscription has ended');
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
        if (insight) yield insight;
        else break;
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
      const { code, reason } = await this.#connection(new WebSocket(url), backoff);
      if (this.#done || code === 1000) return;
      if (!mayReconnect(code)) throw new ClosedError(code, reason);
      await pause(this.#clock, backoff.next(), this.#abort.signal);
      this.reconnects++;
    }
  }

  /** Lives through one connection; resolves when it has closed. */
  #connection(socket: Socket, backoff: Backoff): Promise<{ code: number; reason: string }> {
    return new Promise((resolve) => {
      const abandon = () => socket.close(1000);
      this.#abort.signal.addEventListener('abort', abandon);
      const stopPings = this.#keepAlive(socket);
      socket.onmessage = ({ data }) => this.#receive(data, backoff);
      socket.onerror = () => {};
      socket.onclose = ({ code, reason }) => {
        stopPings();
        this.#abort.signal.removeEventListener('abort', abandon);
        this.#connected = false;
        resolve({ code, reason });
      };
    });
  }

  #receive(data: unknown, backoff: Backoff): void {
    const message = typeof data === 'string' ? parseJson(data) : null;
    if (isLiveInsight(message)) this.#queue.push(message);
    else if (isSubscribed(message)) {
      this.#connected = true;
      backoff.reset();
    } else return;
    this.#wake();
  }

  /** Keeps intermediaries from dropping an idle connection: a WebSocket ping, or, in a browser, a text that the service ignores. */
  #keepAlive(socket: Socket & { ping?: () => void }): () => void {
    let cancel = () => {};
    const beat = () => {
      if (this.#connected) socket.ping ? socket.ping() : socket.send('{"type":"ping"}');
      cancel = this.#clock.after(PING_MS, beat);
    };
    cancel = this.#clock.after(PING_MS, beat);
    return () => cancel();
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
