import type { Duplex } from 'node:stream';
import type { Log } from './log.js';
import { refuse } from './refusal.js';

/**
 * Sockets of one kind that may wait at once: enough for all clients that reconnect after a restart, about 50 MB at
 * worst.
 */
const PLACES = 4096;

/**
 * Holds upgraded sockets until they are admitted, refused or gone. They need no key for it, so places are few; and only
 * as long as a key check lasts, so that strangers cannot hold them. Refused sockets count as connections alone.
 */
export class PendingSockets<T extends object> {
  readonly #waiting = new Set<T>();

  constructor(
    private readonly log: Pick<Log, 'warn'>,
    private readonly places = PLACES,
  ) {}

  /** Refuses a socket (503) before its upgrade if there is no place. Returns whether it did. */
  refuseIfFull(socket: Duplex): boolean {
    if (this.#waiting.size < this.places) return false;
    const { places } = this;
    this.log.warn({ places }, 'too many sockets are waiting to be admitted: further ones are refused with 503');
    refuse(socket, 503, 'too many sockets are waiting to be admitted: try again', { 'Retry-After': '1' });
    return true;
  }

  add(socket: T): void {
    this.#waiting.add(socket);
  }

  /** Harmless for a socket that has left. */
  delete(socket: T): void {
    this.#waiting.delete(socket);
  }
}
