import type { Clock } from '../clock.js';
import { type CloseInfo, giveUp, type NodeSocket, type Socket } from '../socket/socket.js';

/** One connection to the subscribe socket. */
export interface LiveMessages {
  /** Its text messages; ends when it has closed. */
  readonly messages: AsyncIterable<string>;
  /** The close code and reason: 1006 if this side dropped the connection. */
  readonly closed: Promise<CloseInfo>;
  /** Whether this side has dropped the connection. */
  readonly dropped: boolean;
  /** Drops the connection: later messages are not read. */
  drop(): void;
}

/** Interval of the pings, ms. */
const PING_MS = 30_000;
const LOST: CloseInfo = { code: 1006, reason: 'connection lost' };

/**
 * Follows a socket until it closes, is dropped, does not answer a ping, or holds more than `limit` unread messages.
 *
 * @param signal closes it normally
 */
export function liveConnection(socket: Socket, signal: AbortSignal, clock: Clock, limit: number): LiveMessages {
  return new LiveConnection(socket, signal, clock, limit);
}

class LiveConnection implements LiveMessages {
  readonly closed: Promise<CloseInfo>;
  dropped = false;
  readonly #socket: NodeSocket;
  #unread: string[] = [];
  #over = false;
  #wake = () => {};
  #finish: (info: CloseInfo) => void = () => {};
  /** Whether something arrived since the last ping. */
  #alive = true;

  constructor(socket: NodeSocket, signal: AbortSignal, clock: Clock, limit: number) {
    this.#socket = socket;
    const stopPings = this.#keepAlive(clock);
    const abandon = () => socket.close(1000);
    signal.addEventListener('abort', abandon);
    this.closed = new Promise((resolve) => {
      this.#finish = (info) => {
        stopPings();
        signal.removeEventListener('abort', abandon);
        this.#over = true;
        resolve(info);
        this.#wake();
      };
    });
    socket.onmessage = ({ data }) => this.#receive(data, limit);
    socket.onerror = () => {};
    socket.onclose = ({ code, reason }) => this.#finish({ code, reason });
    socket.on?.('pong', () => {
      this.#alive = true;
    });
  }

  get messages(): AsyncIterable<string> {
    return this.#read();
  }

  drop(): void {
    if (this.#over) return;
    this.dropped = true;
    giveUp(this.#socket);
    this.#finish(LOST);
  }

  async *#read(): AsyncGenerator<string> {
    for (;;) {
      const unread = this.#unread;
      this.#unread = [];
      yield* unread;
      if (this.#unread.length > 0) continue;
      if (this.#over) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #receive(data: unknown, limit: number): void {
    this.#alive = true;
    if (typeof data !== 'string') return;
    this.#unread.push(data);
    this.#wake();
    if (this.#unread.length > limit) this.drop();
  }

  /**
   * Pings every 30 s; a browser sends a text that the service ignores; in Node a peer that does not answer is dropped.
   */
  #keepAlive(clock: Clock): () => void {
    const socket = this.#socket;
    const beat = () => {
      if (socket.ping && !this.#alive) return this.drop();
      cancel = clock.after(PING_MS, beat);
      this.#alive = false;
      if (socket.readyState !== 1) return;
      if (socket.ping) socket.ping();
      else socket.send('{"type":"ping"}');
    };
    let cancel = clock.after(PING_MS, beat);
    return () => cancel();
  }
}
