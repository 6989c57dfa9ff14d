import { type Clock, onAbort, pause, systemClock } from '../clock.js';
import { ApiError, ConnectionError, ForeignAnswer, quote } from '../rest/api-error.js';
import { type HttpOptions, send } from '../rest/http.js';
import { backoffMs, ClosedError, mayReconnect } from './reconnection.js';
import type { ServiceAccess } from './service-address.js';
import { type CloseInfo, findWebSocket, onEnd, type Socket, type SocketConstructor } from './socket.js';
import { onPong, terminate } from './ws.js';

/**
 * State of a connection. `connecting`: an attempt is running; `live`: data flow; `repairing`: a subscription reads
 * missed insights by REST; `waiting`: the last attempt failed or the connection was lost, and the next attempt is
 * scheduled; `closed`: it has ended permanently.
 */
export type ConnectionState = 'connecting' | 'live' | 'repairing' | 'waiting' | 'closed';

/** The state of a connection with its cause. */
export interface ConnectionStatus {
  /** State of the connection. */
  readonly state: ConnectionState;
  /** The error that ended the last connection or attempt; null while nothing is wrong, and after a requested end. */
  readonly error: Error | null;
  /** Time at which the next attempt begins, ms since the epoch; null unless the state is `waiting`. */
  readonly nextTryAt: number | null;
}

/** Settings that a device and a subscription have in common. */
export interface ConnectionOptions extends HttpOptions, ServiceAccess {
  readonly WebSocket?: SocketConstructor;
  readonly onStatus?: (status: ConnectionStatus) => void;
  readonly connectWithinMs?: number;
}

/** What keeps a connection from being closed by a proxy, and from a device is answered: browsers cannot send WebSocket pings. */
export const PING = '{"type":"ping"}';

/**
 * A connection to one of the service's sockets that tells its state, notices when the service is silent, and connects
 * again after a loss until it is stopped or refused.
 */
export abstract class Connection {
  #status: ConnectionStatus = { state: 'connecting', error: null, nextTryAt: null };
  readonly #options: ConnectionOptions;
  readonly #pingMs: number;
  readonly #closeMs: number;
  /** Attempts since the last connection that the service confirmed. */
  #failures = 0;
  #waiters: (() => void)[] = [];
  #liftLimit = () => {};
  #dropSocket = () => {};
  /** Whether the service has ever confirmed a connection. */
  #wasConfirmed = false;
  /** @internal */
  protected readonly clock: Clock;
  /** @internal Aborts when the connection has ended permanently. */
  protected readonly ending = new AbortController();
  /** @internal Why this side dropped the present socket. */
  protected dropped: Error | null = null;
  /** @internal The error that ended it permanently. */
  protected failure: Error | null = null;

  /**
   * @param pingMs interval of the pings; the service has the same time to answer
   * @param closeMs maximum wait for the service's answer to a close
   * @internal
   */
  constructor(options: ConnectionOptions, pingMs: number, closeMs: number) {
    this.#options = options;
    this.#pingMs = pingMs;
    this.#closeMs = closeMs;
    this.clock = options.clock ?? systemClock;
  }

  /** State of the connection. */
  get state(): ConnectionState {
    return this.#status.state;
  }

  /** The error that ended the last connection or attempt; null while nothing is wrong. */
  get lastError(): Error | null {
    return this.#status.error;
  }

  /** Time at which the next attempt begins, ms since the epoch; null unless `state` is `waiting`. */
  get nextTryAt(): number | null {
    return this.#status.nextTryAt;
  }

  /** @internal Resolves with the address of the socket when it may be connected to. */
  protected abstract address(): Promise<string>;
  /** @internal Takes a message. What it throws, as a caller's function may, ends the connection permanently. */
  protected abstract receive(message: unknown, socket: Socket): void;
  /** @internal Sends a ping; returns whether this runtime hears its answer. */
  protected abstract ping(socket: Socket): boolean;
  /** @internal Whether something was missed in a silence, where the answers of pings are not heard. */
  protected abstract hasMissed(): Promise<boolean>;
  /** @internal There is no first connection in time, or something else is at the address. */
  protected abstract late(error: Error): void;
  /** @internal A connection has closed with this code; returns whether to connect again at once. */
  protected abstract left(code: number): Promise<boolean>;

  /** @internal Whether it has ended permanently. */
  protected get over(): boolean {
    return this.ending.signal.aborted;
  }

  /** @internal `live` means that the service has confirmed the connection; nothing follows `closed`. Wakes those who wait. */
  protected tell(state: ConnectionState, error: Error | null = null, nextTryAt: number | null = null): void {
    this.wake();
    if (state === 'live') {
      this.#wasConfirmed = true;
      this.#failures = 0;
      this.#liftLimit();
    }
    if (this.state === 'closed' || (this.state === state && this.lastError === error)) return;
    this.#status = { state, error, nextTryAt };
    this.#options.onStatus?.(this.#status);
  }

  /** @internal Resolves when the condition holds, or at the permanent end. */
  protected async until(condition: () => boolean): Promise<void> {
    while (!condition() && !this.over) await new Promise<void>((resolve) => this.#waiters.push(resolve));
  }

  /** @internal Something has changed for which `until` may wait. */
  protected wake(): void {
    for (const wake of this.#waiters.splice(0)) wake();
  }

  /** @internal Drops the socket, if there is one, and reads no more of it. */
  protected drop(why: Error | string): void {
    this.dropped = why instanceof Error ? why : new ConnectionError(why);
    this.#dropSocket();
  }

  /** @internal Ends the connection permanently. */
  protected stop(error: Error | null): void {
    if (this.over) return;
    this.failure = error;
    this.#liftLimit();
    this.ending.abort();
    try {
      this.tell('closed', error);
    } catch (thrown) {
      this.failure ??= asError(thrown);
    }
  }

  /** @internal Connects until the permanent end. */
  protected async run(): Promise<void> {
    const { connectWithinMs: ms = 10_000 } = this.#options;
    this.#liftLimit = this.clock.after(ms, () => {
      const cause = this.lastError;
      this.late(new ConnectionError(`no connection within ${ms} ms: ${cause?.message ?? 'no answer'}`, { cause }));
    });
    try {
      await this.#connect(this.#options.WebSocket ?? (await findWebSocket()));
    } catch (error) {
      this.stop(asError(error));
    }
  }

  async #connect(WebSocket: SocketConstructor): Promise<void> {
    for (;;) {
      const url = await this.address();
      if (this.over) return;
      this.tell('connecting', this.lastError);
      this.dropped = null;
      const { code, reason } = await this.#follow(new WebSocket(url));
      const atOnce = await this.left(code);
      if (this.over) return;
      if (atOnce) continue;
      const said = quote(reason, this.#options.apiKey);
      if (!mayReconnect(code)) throw new ClosedError(code, said);
      const waitMs = backoffMs(this.#failures++, this.#options.backoff);
      this.tell('waiting', await this.#explain(code, said), this.clock.now() + waitMs);
      await pause(this.clock, waitMs, this.ending.signal);
    }
  }

  /** Runs one connection; resolves when it has ended. */
  #follow(socket: Socket): Promise<CloseInfo> {
    const { clock } = this;
    let heard = true;
    let isAnswered = true;
    let cancel = () => {};
    let forget = () => {};
    return new Promise<CloseInfo>((resolve) => {
      const drop = (reason = '') => {
        socket.onmessage = null;
        terminate(socket);
        resolve({ code: 1006, reason });
      };
      const beat = () => {
        if (!heard) {
          if (isAnswered) return drop('the service sends nothing');
          void this.hasMissed().then((missed) => missed && !heard && drop());
        }
        cancel = clock.after(this.#pingMs, beat);
        heard = false;
        if (socket.readyState === 1) isAnswered = this.ping(socket);
      };
      cancel = clock.after(this.#pingMs, beat);
      this.#dropSocket = drop;
      forget = onAbort(this.ending.signal, () => {
        cancel();
        cancel = clock.after(this.#closeMs, drop);
        socket.close(1000);
      });
      socket.onmessage = ({ data }: { data: unknown }) => {
        heard = true;
        try {
          this.receive(data, socket);
        } catch (error) {
          this.stop(asError(error)); // Thrown into a socket, it could stop that alone.
        }
      };
      onPong(socket, () => {
        heard = true;
      });
      onEnd(socket, resolve);
    }).finally(() => {
      cancel();
      forget();
    });
  }

  /** Why a connection ended. A socket that could not be opened does not say it, so REST is asked. */
  async #explain(code: number, reason: string): Promise<Error> {
    if (this.dropped) return this.dropped;
    if (this.#wasConfirmed || code !== 1006)
      return new ConnectionError(`the connection was lost (${code}${reason && `: ${reason}`})`);
    const { baseUrl } = this.#options;
    const request = { method: 'GET', url: `${baseUrl}/v1/stream/health`, signal: this.ending.signal, form: {} };
    const cause = await send(request, { ...this.#options, retries: 0, timeoutMs: 5000 }).catch((why) => why);
    if (cause instanceof ForeignAnswer || (cause instanceof ApiError && cause.status < 500)) {
      const error =
        cause instanceof ForeignAnswer ? cause : new ConnectionError(`check baseUrl: ${cause.message}`, { cause });
      this.late(error);
      return error;
    }
    const why =
      cause instanceof Error
        ? 'cannot be reached'
        : 'opens no WebSocket: it is full, or a proxy does not forward Upgrade';
    return new ConnectionError(`the service at ${baseUrl} ${why}`, { cause });
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
