import type { Clock } from '../clock.js';
import { type CloseInfo, giveUp, type NodeSocket, onEnd } from '../socket/socket.js';

/** Interval of the pings, ms. */
const PING_MS = 30_000;
/** Longest wait for the service's answer to a close, ms: as in Node's own WebSocket. The package `ws` waits for 30 s. */
const CLOSE_MS = 3000;
const LOST: CloseInfo = { code: 1006, reason: 'connection lost' };

/** How a connection is followed. */
interface LiveConnectionOptions {
  /** Closes it normally. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Most messages that are held unread. */
  readonly limit: number;
  /** Whether a connection that was silent for 30 s should have brought something. */
  readonly hasMissed: () => Promise<boolean>;
}

/**
 * One connection to the subscribe socket: followed until it closes, is dropped, holds too many unread messages, or is
 * found to be lost: by a ping without an answer, or, where the runtime has no pings, by a silence in which something was
 * missed.
 */
export class LiveConnection {
  /** The close code and reason: 1006 if this side dropped the connection. */
  readonly closed: Promise<CloseInfo>;
  /** Whether this side has dropped the connection. */
  dropped = false;
  readonly #socket: NodeSocket;
  #unread: string[] = [];
  #over = false;
  #wake = () => {};
  #finish: (info: CloseInfo) => void = () => {};
  /** Whether something arrived since the last ping. */
  #alive = true;

  constructor(socket: NodeSocket, { signal, clock, limit, hasMissed }: LiveConnectionOptions) {
    this.#socket = socket;
    const stopPings = this.#keepAlive(clock, hasMissed);
    let stopWaiting = () => {};
    const abandon = () => {
      socket.close(1000);
      if (!this.#over) stopWaiting = clock.after(CLOSE_MS, () => this.drop());
    };
    signal.addEventListener('abort', abandon);
    this.closed = new Promise((resolve) => {
      this.#finish = (info) => {
        stopPings();
        stopWaiting();
        signal.removeEventListener('abort', abandon);
        this.#over = true;
        resolve(info);
        this.#wake();
      };
    });
    socket.onmessage = ({ data }: { data: unknown }) => this.#receive(data, limit);
    onEnd(socket, (info) => this.#finish(info));
    socket.on?.('pong', () => {
      this.#alive = true;
    });
  }

  /** Drops the connection: later messages are not read. */
  drop(): void {
    if (this.#over) return;
    this.dropped = true;
    giveUp(this.#socket);
    this.#finish(LOST);
  }

  /** The text messages; ends when the connection has closed. */
  async *messages(): AsyncGenerator<string> {
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
   * Every 30 s sends a ping; a runtime without pings (a browser) sends a text that the service ignores, so that proxies
   * keep the connection.
   */
  #keepAlive(clock: Clock, hasMissed: () => Promise<boolean>): () => void {
    const socket = this.#socket;
    const ping = socket.on && socket.ping?.bind(socket); // React Native sends pings, but hides the answers.
    const beat = () => {
      if (!this.#alive) {
        if (ping || socket.readyState === 0) return this.drop();
        void hasMissed().then((missed) => missed && !this.#alive && this.drop());
      }
      cancel = clock.after(PING_MS, beat);
      this.#alive = false;
      if (socket.readyState !== 1) return;
      if (ping) ping();
      else socket.send('{"type":"ping"}');
    };
    let cancel = clock.after(PING_MS, beat);
    return () => cancel();
  }
}
