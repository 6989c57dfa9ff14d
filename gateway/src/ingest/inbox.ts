import type { Transport } from './connection.js';

/** Undecoded bytes above which the socket is paused; one chunk of the socket may be added to this. */
const MAX_WAITING_BYTES = 64 * 1024;
/** Bytes that a waiting message counts beside its data, so that empty messages count too. */
const MESSAGE_BYTES = 64;

/** A message that waits for its turn. */
export interface Message {
  readonly connection: Transport;
  readonly data: Buffer;
  readonly isBinary: boolean;
}

/** The messages of a session that wait to be decoded; the socket is paused while there are too many bytes of them. */
export class Inbox {
  #messages: Message[] = [];
  #bytes = 0;

  get isEmpty(): boolean {
    return this.#messages.length === 0;
  }

  add(message: Message): void {
    this.#messages.push(message);
    this.#bytes += message.data.length + MESSAGE_BYTES;
    if (this.#bytes > MAX_WAITING_BYTES) message.connection.pause();
  }

  /** The oldest message, which waits no longer; undefined if there is none. */
  take(): Message | undefined {
    const message = this.#messages.shift();
    if (message) this.#bytes -= message.data.length + MESSAGE_BYTES;
    return message;
  }

  drop(): void {
    this.#messages = [];
    this.#bytes = 0;
  }
}
