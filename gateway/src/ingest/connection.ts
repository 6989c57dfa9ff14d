import type { Duplex } from 'node:stream';
import { CLOSE, type CloseReason, closeReason } from '@device-insights/contract/close-codes';
import { type FrameErrorCode, LIMITS, type ServiceMessage } from '@device-insights/contract/ingest';
import { textFrame } from '@device-insights/fanout/frame';
import type { Clock } from '@device-insights/fanout/platform/clock';
import { bytesRead, endOfControl } from '@device-insights/fanout/platform/unfinished';
import { descriptorOf, hand } from '@device-insights/fanout/wire';
import { WebSocket } from 'ws';
import type { Fault } from './frame.js';

/** Maximum number of `error` messages sent per second. */
const MAX_ERRORS = 10;
const SECOND_MS = 1000;
/** Refusals for which the frame is not at fault. */
const FAULTLESS: ReadonlySet<FrameErrorCode> = new Set(['too_late', 'in_future', 'too_fast']);
/** More refused frames in a row than this, not counting those, close the connection. */
const MAX_REFUSED = 1000;
export const TOO_MANY_REFUSED = `more than ${MAX_REFUSED} refused frames in a row`;
/** A device that leaves more than this unread of the answers that it caused (pongs, errors) is cut off, bytes. */
const MAX_UNREAD = 1024 * 1024;
/**
 * Maximum number of pings and pongs that a device may send between two calls of `look` (500 ms); before admission, of frames of
 * any kind.
 */
const MAX_IDLE_FRAMES = 100;
/** Maximum time for one message, ms: 64 KiB in 30 s is 18 kbit/s. A slower message closes the connection. */
const MESSAGE_MS = 30_000;
/**
 * Calls of `look` (two a second) without a frame of the device after which it is asked for a sign of life, and after
 * which it counts as lost. TCP alone notices a device that vanished while an answer was on its way only after 15 minutes.
 */
const ASK_LOOKS = 50;
const LOST_LOOKS = 110;
/** Time that a peer has to answer a close frame before its socket is destroyed, ms. */
export const CLOSE_GRACE_MS = 2000;

/** A device's WebSocket. */
export class DeviceSocket extends WebSocket {
  override close(code?: number, reason?: string | Buffer): void {
    super.close(code, closeReason(code, reason, LIMITS.max_frame_bytes));
  }
}

/** Counts the frames in a row that were refused and are at fault. */
export class RefusedInARow {
  #count = 0;

  /** A frame was accepted. */
  end(): void {
    this.#count = 0;
  }

  /** Counts a refused frame; true if they are too many. */
  isTooMany(fault: FrameErrorCode): boolean {
    if (!FAULTLESS.has(fault)) this.#count += 1;
    return this.#count > MAX_REFUSED;
  }
}

/** A device's way to the service: its socket, or an upload. */
export type Transport = Omit<Connection, 'ws' | 'socket' | 'clock'>;

/** One device's socket. It is paused until `resume`, so that no message arrives before the session exists. */
export class Connection {
  /** SHA-256 of the device's key; null before the key is known. */
  keyHash: string | null = null;
  /** Resolves when the device is gone. */
  readonly gone: Promise<void>;
  /** Receives the messages once the session exists. */
  onMessage: ((data: Buffer, isBinary: boolean) => void) | null = null;
  /** Time at which that key expires, ms since the epoch; null if it never expires, or is not known yet. */
  expiresAt: number | null = null;
  /** The upload that this is, with its Idempotency-Key; null for a socket. */
  readonly upload: { readonly key: string | null } | null = null;
  readonly #descriptor: number | undefined;
  readonly #refusedInARow = new RefusedInARow();
  #errorsSince = Number.NEGATIVE_INFINITY;
  #errors = 0;
  #closed = false;
  #admitted = false;
  #idleFrames = 0;
  #silentLooks = 0;
  #unfinishedSince: number | null = null;
  /** Bytes received when all messages had ended. */
  #endedAt: number;

  constructor(
    readonly ws: WebSocket,
    readonly socket: Duplex,
    readonly clock: Clock,
  ) {
    this.#descriptor = descriptorOf(socket);
    this.#endedAt = bytesRead(socket);
    this.gone = new Promise((resolve) => {
      ws.once('close', () => resolve());
    });
    ws.pause();
    ws.on('error', () => undefined); // A broken or oversized frame, or a reset: `close` follows and has the details.
    for (const control of ['ping', 'pong'])
      ws.on(control, (payload: Buffer) => {
        this.#endedAt = endOfControl(socket, this.#endedAt, payload);
        this.#idle();
      });
    ws.on('message', (data: Buffer, isBinary) => {
      this.#messageEnded();
      this.onMessage?.(data, isBinary);
    });
  }

  /** Whether the service has closed the socket: later messages of the device are dropped. */
  get closed(): boolean {
    return this.#closed;
  }

  pause(): void {
    if (!this.ws.isPaused) this.ws.pause();
  }

  resume(): void {
    this.#admitted ||= !this.#closed;
    if (this.ws.isPaused) this.ws.resume();
  }

  /**
   * Sends a message past `ws`, as subscribers' messages are sent: one system call, without the objects that each write
   * of `ws` creates.
   */
  send(message: ServiceMessage): void {
    if (this.ws.readyState !== this.ws.OPEN) return;
    if (!hand(this.socket, this.#descriptor, textFrame(JSON.stringify(message)))) this.#cutOffIfUnread();
  }

  /** Records that a frame was accepted. */
  accepted(): void {
    this.#refusedInARow.end();
  }

  /** Reports a refused frame, at most ten times a second; closes the connection if all frames are bad. */
  refuse({ fault, ...rest }: Fault): void {
    if (this.#refusedInARow.isTooMany(fault)) this.close('badRequest', TOO_MANY_REFUSED);
    else if (this.#mayTellError()) this.send({ type: 'error', code: fault, ...rest });
  }

  /** Call twice a second: closes the connection if a message takes too long, or if the device has vanished. */
  look(): void {
    this.#idleFrames = 0;
    this.#silentLooks = this.ws.isPaused ? 0 : this.#silentLooks + 1;
    if (this.#silentLooks === ASK_LOOKS) this.ws.ping();
    if (this.#silentLooks > LOST_LOOKS) this.ws.terminate();
    const now = this.clock.monotonic();
    if (this.ws.isPaused || bytesRead(this.socket) <= this.#endedAt) this.#unfinishedSince = null;
    else this.#unfinishedSince ??= now;
    if (now - (this.#unfinishedSince ?? now) > MESSAGE_MS)
      this.close('overloaded', `a message took longer than ${MESSAGE_MS / SECOND_MS} s`);
  }

  /** Starts the closing handshake; a peer that does not answer it, or sends many other frames, is cut off. */
  close(reason: CloseReason, detail: string = CLOSE[reason].meaning): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#idleFrames = 0;
    this.ws.resume(); // The peer's close frame must be read.
    this.ws.close(CLOSE[reason].code, detail);
    const grace = this.clock.after(CLOSE_GRACE_MS, () => this.ws.terminate());
    void this.gone.then(() => grace.cancel());
  }

  #mayTellError(): boolean {
    const now = this.clock.monotonic();
    if (now - this.#errorsSince >= SECOND_MS) {
      this.#errorsSince = now;
      this.#errors = 0;
    }
    this.#errors += 1;
    return this.#errors <= MAX_ERRORS;
  }

  #messageEnded(): void {
    this.#unfinishedSince = null;
    this.#silentLooks = 0;
    this.#endedAt = bytesRead(this.socket);
    if (!this.#admitted) this.#idle();
  }

  /** Counts a frame without data: reading many of them would take time from all other devices. */
  #idle(): void {
    this.#idleFrames += 1;
    this.#silentLooks = 0;
    this.#cutOffIfUnread();
    if (this.#idleFrames <= MAX_IDLE_FRAMES) return;
    if (this.#closed) this.ws.terminate();
    else this.close('badRequest', `more than ${MAX_IDLE_FRAMES} pings in half a second`);
  }

  #cutOffIfUnread(): void {
    if (this.ws.bufferedAmount > MAX_UNREAD) this.ws.terminate();
  }
}
