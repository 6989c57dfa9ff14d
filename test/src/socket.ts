import { once } from 'node:events';
import WebSocket, { type ClientOptions } from 'ws';

/** How a socket was closed, and when, ms. */
interface Close {
  readonly code: number;
  readonly reason: string;
  readonly at: number;
}

/** A raw WebSocket client that keeps every message until it is requested. */
export class RawSocket {
  readonly #socket: WebSocket;
  readonly #messages: Record<string, unknown>[] = [];
  readonly #closed: Promise<Close>;
  #wake = () => {};

  constructor(url: string, options: ClientOptions = {}) {
    this.#socket = new WebSocket(url, options);
    this.#socket.on('message', (data) => {
      this.#messages.push(JSON.parse(String(data)) as Record<string, unknown>);
      this.#wake();
    });
    this.#socket.on('error', () => {});
    this.#closed = once(this.#socket, 'close').then(([code, reason]) => ({
      code: Number(code),
      reason: String(reason),
      at: Date.now(),
    }));
    this.#closed.then(() => this.#wake());
  }

  /** The next message; rejects if the socket closes first. */
  async next(): Promise<Record<string, unknown>> {
    for (;;) {
      const message = this.#messages.shift();
      if (message) return message;
      if (this.#socket.readyState === WebSocket.CLOSED) {
        const { code, reason } = await this.#closed;
        throw new Error(`the socket closed before a message came: ${code} ${reason}`);
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** The next message that `matches`; earlier ones are skipped. */
  async until(matches: (message: Record<string, unknown>) => boolean): Promise<Record<string, unknown>> {
    for (;;) {
      const message = await this.next();
      if (matches(message)) return message;
    }
  }

  send(message: object | Uint8Array): void {
    this.#socket.send(message instanceof Uint8Array ? message : JSON.stringify(message));
  }

  /** Sends a WebSocket ping; resolves with its pong. */
  async pong(): Promise<void> {
    const answered = once(this.#socket, 'pong');
    this.#socket.ping();
    await answered;
  }

  /** The socket's close. */
  closed(): Promise<Close> {
    return this.#closed;
  }

  close(): void {
    this.#socket.close(1000);
  }
}
