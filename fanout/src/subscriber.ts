import type { Duplex } from 'node:stream';
import { WebSocket } from 'ws';
import type { Clock, Timer } from './clock.js';
import { CLOSE, type CloseReason } from './close-codes.js';
import type { Counters } from './counters.js';
import type { KeyGroup } from './roster.js';
import type { Scope } from './scope.js';
import { descriptorOf, writeNow } from './wire.js';

/** How long a peer has to answer our close frame before its socket is destroyed, ms. */
export const CLOSE_GRACE_MS = 5000;

/** A socket that leads to its subscriber: one listener serves all, where a closure for each would be a hundred bytes for each. */
export class SubscriberSocket extends WebSocket {
  subscriber: Subscriber | undefined;
}

/** What all subscribers of a node share. */
export interface SubscriberHome {
  readonly clock: Clock;
  readonly counters: Counters;
  /** Called once, when the socket is gone. */
  onClose(subscriber: Subscriber): void;
}

/** A peer that pings and reads nothing is cut off when so many pongs wait for it: the default of `ws`. */
const MAX_WAITING_PONGS = 60;

const { OPEN } = WebSocket;
const ignore = () => undefined;

function closed(this: WebSocket): void {
  if (this instanceof SubscriberSocket) this.subscriber?.closed();
}

function pinged(this: WebSocket, payload: Buffer): void {
  if (this instanceof SubscriberSocket) this.subscriber?.pinged(payload);
}

/** A write that the kernel has not taken whole. */
interface Unfinished {
  readonly since: number;
  readonly messages: number;
}

const NO_BYTES = Buffer.alloc(0);

/**
 * One subscriber's socket. `ws` does the handshake, receives, and sends the control frames; data frames are built once for
 * all subscribers and written to the socket beside it. That is sound because `ws`, which is never told to send data and so has nothing to
 * compress, writes every control frame whole and at once, so frames never interleave, and because nothing is written after a close frame.
 */
export class Subscriber {
  /** In order of writing; made when first needed, as most subscribers always keep up. */
  #unfinished: Unfinished[] | undefined;
  #grace: Timer | undefined;
  readonly #descriptor: number | undefined;
  /** Those with the same key; kept by the roster. */
  group: KeyGroup | undefined;
  /** Where it has a place in its account's channel, once its key is known. */
  scope: Scope | undefined;
  /** Its index in the list of its scope, -1 while it is in none; kept there. */
  slot = -1;
  #waitingPongs = 0;

  constructor(
    private readonly ws: SubscriberSocket,
    private readonly socket: Duplex,
    private readonly home: SubscriberHome,
  ) {
    this.#descriptor = descriptorOf(socket);
    ws.on('error', ignore); // A broken frame or a reset: `close` follows and says all there is to say.
    ws.on('close', closed);
    ws.on('ping', pinged);
    ws.subscriber = this;
  }

  /** To be called once, when the socket is gone. */
  closed(): void {
    this.#grace?.cancel();
    this.home.onClose(this);
  }

  /** Answers a ping; left to `ws`, that would take a function made for each socket beforehand. */
  pinged(payload: Buffer): void {
    if (!this.open) return;
    if (this.#waitingPongs === MAX_WAITING_PONGS) {
      this.ws.terminate();
      return;
    }
    this.#waitingPongs += 1;
    this.ws.pong(payload, false, () => {
      this.#waitingPongs -= 1;
    });
  }

  /** Whether it takes deflated frames: it has agreed on an extension, and there is one only. */
  get deflates(): boolean {
    return this.ws.extensions !== '';
  }

  /** Whether data may still be written: no close frame has been sent or received. */
  get open(): boolean {
    return this.ws.readyState === OPEN;
  }

  /** Bytes written and not yet taken by the kernel. */
  get bufferedBytes(): number {
    return this.socket.writableLength;
  }

  /** Age of the oldest write that the kernel has not taken whole, ms; 0 when there is none. */
  lagMs(now: number): number {
    const oldest = this.#unfinished?.[0];
    return oldest ? now - oldest.since : 0;
  }

  /**
   * Writes a buffer of whole frames that holds `messages` messages. Returns whether the kernel took it whole, and so can be counted as
   * delivered; what it did not is counted here, once its fate is known.
   */
  write(frames: Buffer, messages: number, now: number): boolean {
    if (this.ws.readyState !== OPEN) {
      this.home.counters.dropped += messages;
      return false;
    }
    if (this.#hand(frames)) return true;
    this.#await({ since: now, messages });
    return false;
  }

  /** Starts the closing handshake; a peer that does not answer it is cut off. */
  close(reason: CloseReason): void {
    if (!this.open) return;
    const { code, meaning } = CLOSE[reason];
    this.ws.close(code, meaning);
    this.#grace = this.home.clock.after(CLOSE_GRACE_MS, () => this.ws.terminate());
  }

  /** Returns whether the kernel took them whole. What it did not take waits in the socket's queue. */
  #hand(frames: Buffer): boolean {
    const { socket } = this;
    const direct = this.#descriptor !== undefined && socket.writableLength === 0 && !socket.destroyed;
    const taken = direct ? writeNow(this.#descriptor, frames) : 0;
    if (taken === frames.length) return true;
    socket.write(taken === 0 ? frames : frames.subarray(taken));
    return socket.writableLength === 0 && !socket.errored && !socket.destroyed;
  }

  /** A write of nothing behind it ends when it does: a callback for each write would cost those who keep up. */
  #await(write: Unfinished): void {
    this.#unfinished ??= [];
    this.#unfinished.push(write);
    this.socket.write(NO_BYTES, (error) => this.#settle(!error));
  }

  #settle(delivered: boolean): void {
    const messages = this.#unfinished?.shift()?.messages ?? 0;
    this.home.counters[delivered ? 'delivered' : 'dropped'] += messages;
  }
}
