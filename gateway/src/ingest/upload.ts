import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { CLOSE, type CloseReason } from '@device-insights/contract/close-codes';
import { LIMITS, type ServiceMessage } from '@device-insights/contract/ingest';
import { countOne } from '@device-insights/fanout/platform/count';
import { deferred } from '@device-insights/fanout/platform/promises';
import { CloseError } from '../errors.js';
import { MAX_LISTED, MAX_UPLOAD_BYTES, type UploadResult } from '../upload.js';
import { RefusedInARow, TOO_MANY_REFUSED, type Transport } from './connection.js';
import type { Fault } from './frame.js';

/** Length of a frame's length, bytes. */
const PREFIX = 4;
/** Calls of `look` (two a second) within which a frame must arrive. */
const FRAME_LOOKS = 60;
const END = Buffer.from(JSON.stringify({ type: 'end' }));
const HOW = 'precede each binary frame by its length in bytes, a u32 in little endian';
const TOO_LONG = `the body is longer than ${MAX_UPLOAD_BYTES} bytes: send the rest in another upload`;
const TOO_SLOW = 'a frame took longer than 30 s to arrive';
const LEFT = 'the client left before the end of the body';

/**
 * The body of a request as the connection of a device that sends its frames, then `end`. A body that breaks off or is not
 * valid ends the session too, with the frames before the fault.
 */
export class Upload implements Transport {
  keyHash: string | null = null;
  expiresAt: number | null = null;
  onMessage: ((data: Buffer, isBinary: boolean) => void) | null = null;
  readonly upload: { readonly key: string | null };
  readonly #gone = deferred();
  readonly gone = this.#gone.promise;
  readonly #refusedInARow = new RefusedInARow();
  readonly #refused = new Map<string, number>();
  readonly #errors: UploadResult['errors'][number][] = [];
  readonly #notices: object[] = [];
  readonly #hash = createHash('sha256');
  #rest: Buffer = Buffer.alloc(0);
  #bytes = 0;
  #frames = 0;
  #accepted = 0;
  #silentLooks = 0;
  #sessionId = '';
  #hasEnded = false;
  /** Why the upload failed. */
  #failure: CloseError | null = null;
  #closed = false;

  /** @param key its Idempotency-Key */
  constructor(
    private readonly request: IncomingMessage,
    key: string | null,
  ) {
    this.upload = { key };
    if (Number(request.headers['content-length']) > MAX_UPLOAD_BYTES) this.close('tooLarge', TOO_LONG);
  }

  get closed(): boolean {
    return this.#closed;
  }

  get #isReading(): boolean {
    return this.onMessage !== null && !this.#hasEnded && !this.request.isPaused();
  }

  pause(): void {
    this.request.pause();
  }

  resume(): void {
    if (this.request.listenerCount('data') === 0) this.#listen();
    this.request.resume();
  }

  send(message: ServiceMessage): void {
    if (message.type === 'ready') this.#sessionId = message.session_id;
    if (message.type !== 'notice' || this.#notices.length === MAX_LISTED) return;
    const { type, ...notice } = message;
    this.#notices.push(notice);
  }

  accepted(): void {
    this.#accepted += 1;
    this.#refusedInARow.end();
  }

  refuse({ fault, ...rest }: Fault): void {
    const frame = this.#accepted + [...this.#refused.values()].reduce((sum, count) => sum + count, 0);
    countOne(this.#refused, fault);
    if (this.#errors.length < MAX_LISTED) this.#errors.push({ frame, code: fault, ...rest });
    if (this.#refusedInARow.isTooMany(fault)) this.close('badRequest', TOO_MANY_REFUSED);
  }

  look(): void {
    this.#silentLooks = this.#isReading ? this.#silentLooks + 1 : 0;
    if (this.#silentLooks > FRAME_LOOKS) this.#end(new CloseError('overloaded', TOO_SLOW));
  }

  close(reason: CloseReason, detail: string = CLOSE[reason].meaning): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#hasEnded = true;
    if (reason !== 'normal') this.#failure ??= new CloseError(reason, detail);
    this.request.resume(); // The rest is discarded.
    this.#gone.resolve();
  }

  /** The outcome of the frames, once the session has ended. Rejects with `CloseError` if the upload failed. */
  async result(): Promise<Omit<UploadResult, 'nextSeq' | 'insights' | 'continues'>> {
    await this.gone;
    if (!this.#failure) {
      const [accepted, refused] = [this.#accepted, this.#refused];
      const [sessionId, bodyHash] = [this.#sessionId, this.#hash.digest('hex')];
      return { sessionId, bodyHash, accepted, refused, errors: this.#errors, notices: this.#notices };
    }
    const { reason, message } = this.#failure;
    const kept = `; the ${this.#accepted} frames accepted before are in session ${this.#sessionId}`;
    throw new CloseError(reason, this.#accepted > 0 ? message + kept : message);
  }

  #listen(): void {
    const cutOff = () => this.#end(new CloseError('badRequest', LEFT));
    if (this.request.destroyed) return void cutOff();
    this.request.on('data', (chunk: Buffer) => this.#take(chunk));
    this.request.on('error', cutOff);
    this.request.on('close', cutOff);
    this.request.on('end', () =>
      this.#end(this.#rest.length === 0 && this.#frames > 0 ? null : this.#faulty(`the body ends within it: ${HOW}`)),
    );
  }

  #take(chunk: Buffer): void {
    if (this.#hasEnded) return;
    this.#bytes += chunk.length;
    if (this.#bytes > MAX_UPLOAD_BYTES) return void this.#end(new CloseError('tooLarge', TOO_LONG));
    this.#hash.update(chunk);
    let rest = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk;
    while (!this.#closed && rest.length >= PREFIX) {
      const length = rest.readUInt32LE();
      if (length > LIMITS.max_frame_bytes)
        return void this.#end(this.#faulty(`its length is ${length}, and at most ${LIMITS.max_frame_bytes}: ${HOW}`));
      if (rest.length < PREFIX + length) break;
      this.#frames += 1;
      this.#silentLooks = 0;
      this.onMessage?.(rest.subarray(PREFIX, PREFIX + length), true);
      rest = rest.subarray(PREFIX + length);
    }
    this.#rest = rest;
  }

  #faulty(fault: string): CloseError {
    return new CloseError('badRequest', `frame ${this.#frames} of the body cannot be read, because ${fault}`);
  }

  /** Ends the session with the frames so far. */
  #end(failure: CloseError | null): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#failure = failure;
    this.request.resume(); // The rest is discarded.
    this.onMessage?.(END, false);
  }
}
