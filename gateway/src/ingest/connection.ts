import { CLOSE, type CloseReason } from '@device-insights/fanout';
import type { WebSocket } from 'ws';
import type { Clock } from '../clock.js';
import type { Fault } from './frame.js';

/** A message as it came from a device. */
export interface Incoming {
  readonly data: Buffer;
  readonly isBinary: boolean;
}

/** `error` messages sent per second at most. */
const MAX_ERRORS = 10;
const SECOND_MS = 1000;
/** More refused frames in a row close the connection. */
const MAX_REFUSED = 1000;
/** A device that does not read what it asked for (pongs, errors) is cut off beyond this, bytes. */
const MAX_UNREAD = 1024 * 1024;
/** How long a peer has to answer a close frame before its socket is destroyed, ms. */
const CLOSE_GRACE_MS = 2000;

/** One device's socket. It is paused until `resume`, so that nothing comes before the session is there. */
export class Connection {
  /** SHA-256 of the key it came with; null before the key is known. */
  keyHash: string | null = null;
  #refusedInARow = 0;
  #errorsSince = 0;
  #errors = 0;
  #closed = false;

  constructor(
    readonly ws: WebSocket,
    readonly clock: Clock,
  ) {
    ws.pause();
    ws.on('error', () => undefined); // A broken or oversized frame, or a reset: `close` follows and says all.
    ws.on('ping', () => this.#cutOffIfUnread());
  }

  /** Whether the service has closed it: what still came in from it is dropped. */
  get closed(): boolean {
    return this.#closed;
  }

  /** Whether the device is gone. */
  get gone(): boolean {
    return this.ws.readyState === this.ws.CLOSED;
  }

  pause(): void {
    if (!this.ws.isPaused) this.ws.pause();
  }

  resume(): void {
    if (this.ws.isPaused) this.ws.resume();
  }

  send(message: object): void {
    if (this.ws.readyState !== this.ws.OPEN) return;
    this.ws.send(JSON.stringify(message));
    this.#cutOffIfUnread();
  }

  /** Notes that a frame was taken. */
  accepted(): void {
    this.#refusedInARow = 0;
  }

  /** Tells of a refused frame, at most ten times a second; closes where nothing but bad frames comes. */
  refuse({ fault, ...rest }: Fault): void {
    this.#refusedInARow += 1;
    if (this.#refusedInARow > MAX_REFUSED) this.close('badRequest', 'more than 1000 refused frames in a row');
    else if (this.#mayTellError()) this.send({ type: 'error', code: fault, ...rest });
  }

  /** Starts the closing handshake; a peer that does not answer it is cut off. */
  close(reason: CloseReason, detail: string = CLOSE[reason].meaning): void {
    if (this.#closed) return;
    this.#closed = true;
    this.ws.resume(); // The peer's close frame is to be read.
    this.ws.close(CLOSE[reason].code, detail);
    const grace = this.clock.after(CLOSE_GRACE_MS, () => this.ws.terminate());
    this.ws.once('close', () => grace.cancel());
    if (this.gone) grace.cancel();
  }

  #mayTellError(): boolean {
    const now = this.clock.now();
    if (now - this.#errorsSince >= SECOND_MS) {
      this.#errorsSince = now;
      this.#errors = 0;
    }
    this.#errors += 1;
    return this.#errors <= MAX_ERRORS;
  }

  #cutOffIfUnread(): void {
    if (this.ws.bufferedAmount > MAX_UNREAD) this.ws.terminate();
  }
}
