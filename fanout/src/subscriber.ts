import type { Duplex } from 'node:stream';
import { CLOSE, type CloseReason, closeReason } from '@device-insights/contract/close-codes';
import { WebSocket } from 'ws';
import type { Scope } from './channel.js';
import type { Fanout } from './fanout.js';
import type { Timer } from './platform/clock.js';
import { bytesRead, endOfControl } from './platform/unfinished.js';
import type { KeyGroup } from './subscriber-registry.js';
import { descriptorOf, hand } from './wire.js';

/** Time that a peer has to answer a close frame before its socket is destroyed, ms. */
export const CLOSE_GRACE_MS = 5000;

/** A subscriber's own messages are read and ignored, up to this size; a larger one closes its socket (1009). */
export const MAX_CLIENT_MESSAGE_BYTES = 4096;

/**
 * A socket with a reference to its subscriber: one listener serves all, because a closure for each would use a hundred
 * bytes each.
 */
export class SubscriberSocket extends WebSocket {
  subscriber: Subscriber | undefined;

  override close(code?: number, reason?: string | Buffer): void {
    super.close(code, closeReason(code, reason, MAX_CLIENT_MESSAGE_BYTES));
  }
}

/**
 * Frames that a subscriber may send within a second, and once it was refused: it needs to send only pings. A peer that
 * reads nothing is cut off when as many pongs wait for it.
 */
const MAX_FRAMES = 100;
/** Number of checks, one a second, at which the same message may be unfinished. */
const MAX_UNFINISHED_LOOKS = 10;

const { OPEN } = WebSocket;
const ignore = () => undefined;

function closed(this: WebSocket): void {
  if (this instanceof SubscriberSocket) this.subscriber?.closed();
}

function heard(this: WebSocket): void {
  if (this instanceof SubscriberSocket) this.subscriber?.heard();
}

function ponged(this: WebSocket, payload: Buffer): void {
  if (this instanceof SubscriberSocket) this.subscriber?.ponged(payload);
}

function pinged(this: WebSocket, payload: Buffer): void {
  if (this instanceof SubscriberSocket) this.subscriber?.pinged(payload);
}

/** Frames that the kernel has not completely accepted. */
interface Unfinished {
  readonly since: number;
  readonly messages: number;
  /** Null if they are in the socket's queue. */
  readonly frames: Buffer | null;
}

const NO_BYTES = Buffer.alloc(0);
/** Frames that are joined for the next write to a subscriber that is behind, bytes. */
const MAX_JOINED_BYTES = 64 * 1024;

/**
 * One subscriber's socket. `ws` does the handshake, receives, and sends the control frames; data frames are built once
 * for all subscribers and written directly to the socket. This is correct because `ws` is never told to send data: it
 * writes every control frame whole and at once, so frames never interleave. Nothing is written after a close frame.
 */
export class Subscriber {
  /**
   * In order of writing; created when first needed, as most subscribers always keep up. Only the first ones are in the
   * socket's queue, where each write would cost several objects, and a call when the socket ends.
   */
  #unfinished: Unfinished[] | undefined;
  #heldBytes = 0;
  #grace: Timer | undefined;
  readonly #descriptor: number | undefined;
  /** The subscribers with the same key; set by the registry. */
  group: KeyGroup | undefined;
  /** Its place in its account's channel, once its key is known. */
  scope: Scope | undefined;
  /** Number of the first message of its channel that it receives; set by the channel. */
  since = 0;
  #waitingPongs = 0;
  #frames = 0;
  #unfinishedLooks = 0;
  /** Bytes received when all messages had ended. */
  #endedAt: number;
  #isClosing = false;

  constructor(
    private readonly ws: SubscriberSocket,
    private readonly socket: Duplex,
    private readonly fanout: Fanout,
  ) {
    this.#descriptor = descriptorOf(socket);
    this.#endedAt = bytesRead(socket);
    ws.on('error', ignore); // A broken frame or a reset: `close` follows and has the details.
    ws.on('close', closed);
    ws.on('ping', pinged);
    ws.on('pong', ponged);
    ws.on('message', heard);
    ws.subscriber = this;
  }

  /** Call once, when the socket is closed. */
  closed(): void {
    this.#grace?.cancel();
    this.fanout.onClose(this);
  }

  /** A message has ended. */
  heard(): void {
    this.#unfinishedLooks = 0;
    this.#endedAt = bytesRead(this.socket);
    this.#count();
  }

  ponged(payload: Buffer): void {
    this.#endedAt = endOfControl(this.socket, this.#endedAt, payload);
    this.#count();
  }

  /** Counts a frame from the peer; a peer that sends too many is closed, and cut off if it continues. */
  #count(): void {
    this.#frames += 1;
    if (this.#frames <= MAX_FRAMES) return;
    if (this.open) this.close('badRequest', `more than ${MAX_FRAMES} frames in a second`);
    else this.ws.terminate();
  }

  /** Call once a second: closes the socket if a message takes too long. */
  look(): void {
    this.#frames = 0;
    this.#unfinishedLooks = bytesRead(this.socket) > this.#endedAt ? this.#unfinishedLooks + 1 : 0;
    if (this.#unfinishedLooks > MAX_UNFINISHED_LOOKS)
      this.close('overloaded', `a message took longer than ${MAX_UNFINISHED_LOOKS} s`);
  }

  /** Answers a ping; `ws` itself would need a function created for each socket beforehand. */
  pinged(payload: Buffer): void {
    this.ponged(payload);
    if (!this.open) return;
    if (this.#waitingPongs === MAX_FRAMES) {
      this.ws.terminate();
      return;
    }
    this.#waitingPongs += 1;
    this.ws.pong(payload, false, () => {
      this.#waitingPongs -= 1;
    });
  }

  /** Whether data may still be written: it is not being closed, by either side. */
  get open(): boolean {
    return !this.#isClosing && this.ws.readyState === OPEN;
  }

  /** Bytes written and not yet accepted by the kernel. */
  get bufferedBytes(): number {
    return this.socket.writableLength + this.#heldBytes;
  }

  /** Age of the oldest write that the kernel has not completely accepted, ms; 0 if there is none. */
  lagMs(now: number): number {
    const oldest = this.#unfinished?.[0];
    return oldest ? now - oldest.since : 0;
  }

  /**
   * Writes a buffer of whole frames with `messages` messages. Returns whether the kernel accepted it completely, so
   * that it counts as delivered; otherwise it is counted here, once its result is known.
   */
  write(frames: Buffer, messages: number, now: number): boolean {
    if (!this.open) {
      this.fanout.counters.dropped += messages;
      return false;
    }
    if (this.#unfinished?.length) this.#hold({ since: now, messages, frames });
    else if (hand(this.socket, this.#descriptor, frames)) return true;
    else this.#await({ since: now, messages, frames: null });
    return false;
  }

  /**
   * From now on nothing is written. The closing handshake begins, and a peer that does not answer it is cut off, in turns of
   * the account: thousands of subscribers that are closed at once would delay other accounts.
   */
  close(reason: CloseReason, detail: string = CLOSE[reason].meaning): void {
    if (!this.open) return;
    this.#frames = 0;
    this.#isClosing = true;
    const { clock, scheduler } = this.fanout;
    scheduler.once(this.#account, () => this.ws.close(CLOSE[reason].code, detail));
    this.#grace = clock.after(CLOSE_GRACE_MS, () => scheduler.once(this.#account, () => this.ws.terminate()));
  }

  /** Empty until its key is known. */
  get #account(): string {
    return this.scope?.channel.account ?? '';
  }

  #hold(write: Unfinished): void {
    this.#unfinished?.push(write);
    this.#heldBytes += write.frames?.length ?? 0;
  }

  /** An empty write behind it ends when it does: a callback for each write would cost subscribers that keep up. */
  #await(write: Unfinished): void {
    this.#unfinished ??= [];
    this.#unfinished.push(write);
    this.socket.write(NO_BYTES, (error) => this.#settle(1, !error));
  }

  /** The oldest writes have ended: the next ones are due, unless a close frame was sent meanwhile. */
  #settle(writes: number, delivered: boolean): void {
    for (const { messages } of this.#unfinished?.splice(0, writes) ?? [])
      this.fanout.counters[delivered ? 'delivered' : 'dropped'] += messages;
    if (!this.#unfinished?.length) return;
    if (this.open) this.#writeHeld(this.#unfinished);
    else this.#dropHeld(this.#unfinished);
  }

  #writeHeld(held: readonly Unfinished[]): void {
    const frames: Buffer[] = [];
    let bytes = 0;
    for (const write of held) {
      if (!write.frames || (bytes > 0 && bytes + write.frames.length > MAX_JOINED_BYTES)) break;
      frames.push(write.frames);
      bytes += write.frames.length;
    }
    this.#heldBytes -= bytes;
    this.socket.write(Buffer.concat(frames), (error) => this.#settle(frames.length, !error));
  }

  #dropHeld(held: readonly Unfinished[]): void {
    for (const { messages } of held) this.fanout.counters.dropped += messages;
    this.#unfinished = undefined;
    this.#heldBytes = 0;
  }
}
