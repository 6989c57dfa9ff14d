import type { Batch } from './batches.js';
import { encodeFrame, HEADER_BYTES } from './frame-encoder.js';

/** An encoded frame to be sent. */
interface Parcel {
  readonly channel: number;
  /** Number of its first instant, and the one after its last. */
  readonly seq: number;
  readonly end: number;
  /** Values per instant. */
  readonly width: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Bytes of a sample in the widest encoding. */
const WIDEST_SAMPLE = 4;

/**
 * Encodes samples into as many frames as `maxFrameBytes` requires.
 *
 * @throws RangeError as `encodeFrame`
 */
export function parcelsOf(
  { channel, seq, ts, samples }: Batch,
  { num_channels: width, sample_rate_hz }: { num_channels: number; sample_rate_hz: number },
  maxFrameBytes: number,
): Parcel[] {
  const parcels: Parcel[] = [];
  const instants = samples.length / width;
  const most = Math.floor((maxFrameBytes - HEADER_BYTES) / WIDEST_SAMPLE / width);
  for (let from = 0; from < instants; from += most) {
    const to = Math.min(instants, from + most);
    const part = samples.subarray(from * width, to * width);
    const bytes = encodeFrame({ channel, seq: seq + from, ts: ts + (from * 1000) / sample_rate_hz, samples: part });
    parcels.push({ channel, seq: seq + from, end: seq + to, width, bytes });
  }
  return parcels;
}

interface Progress {
  readonly periodMs: number;
  /** All lower numbers were received or given up. */
  acked: number;
  /** All lower numbers have been sent or never existed. */
  sent: number;
  /** All lower numbers were acknowledged or refused. */
  answered: number;
}

/** Time for which acknowledged frames are kept for a gateway that lost its state (`replay_ms`), ms of data time. */
const REPLAY_MS = 60_000;

/**
 * A device's frames between being measured and being forgotten: those to send, those sent but not acknowledged, and the
 * last minute of the acknowledged ones, which a gateway may request again. Limited in bytes; the oldest are dropped
 * first.
 */
export class Outbox {
  #parcels: Parcel[] = [];
  /** Index of the next to send. */
  #next = 0;
  #bytes = 0;
  #unsentBytes = 0;
  readonly #channels = new Map<number, Progress>();
  /** For each ping without a pong, the first number of each channel that had not been sent before it. */
  #asked: ReadonlyMap<number, number>[] = [];

  /** @param limitBytes most bytes that are kept */
  constructor(readonly limitBytes: number) {}

  /** Bytes that have not been sent on this connection. */
  get unsentBytes(): number {
    return this.#unsentBytes;
  }

  /** Samples that have not been sent on this connection, except those that are acknowledged. */
  get unsentSamples(): number {
    return this.#parcels.slice(this.#next).reduce((sum, parcel) => sum + this.#unacknowledged(parcel), 0);
  }

  /** Data time that has been sent but neither acknowledged nor refused, on the channel with most of it; ms. */
  get unackedMs(): number {
    let most = 0;
    for (const { periodMs, acked, sent, answered } of this.#channels.values())
      most = Math.max(most, (sent - Math.max(acked, answered)) * periodMs);
    return most;
  }

  /** Sets the rate of a channel, Hz; it must be known before its first parcel. */
  setRate(channel: number, rateHz: number): void {
    const { acked = -1, sent = -1, answered = -1 } = this.#channels.get(channel) ?? {};
    this.#channels.set(channel, { periodMs: 1000 / rateHz, acked, sent, answered });
  }

  /** Takes a parcel; returns the number of samples dropped to make room for it. */
  add(parcel: Parcel): number {
    this.#parcels.push(parcel);
    this.#bytes += parcel.bytes.length;
    this.#unsentBytes += parcel.bytes.length;
    return this.#bytes > this.limitBytes ? this.#dropOldest() : 0;
  }

  /** The next parcel to send, which then counts as sent; undefined if all have been sent. */
  take(): Parcel | undefined {
    const parcel = this.#parcels[this.#next];
    if (!parcel) return undefined;
    this.#next++;
    this.#unsentBytes -= parcel.bytes.length;
    const progress = this.#progress(parcel.channel);
    if (progress.acked < 0) progress.acked = parcel.seq;
    progress.sent = Math.max(progress.sent, parcel.end);
    return parcel;
  }

  /** All numbers of the channel below `nextSeq` were received or given up. */
  acknowledge(channel: number, nextSeq: number): void {
    const progress = this.#channels.get(channel);
    if (!progress) return;
    progress.acked = nextSeq;
    this.#forget();
  }

  /** A ping is being sent. */
  ask(): void {
    this.#asked.push(new Map([...this.#channels].map(([channel, { sent }]) => [channel, sent])));
  }

  /**
   * The next pong: the service has dealt with all that was sent before its ping, and refused what it does not
   * acknowledge. What was sent after the ping may still be on its way.
   */
  settle(): void {
    for (const [channel, sent] of this.#asked.shift() ?? []) this.#progress(channel).answered = sent;
  }

  /** A new connection to the same session: continues after the acknowledged data. */
  resume(): void {
    this.#rewind((parcel) => parcel.end > this.#progress(parcel.channel).acked);
  }

  /**
   * A new connection to a gateway without the session's signal: goes back by `replayMs`, and to all data that were not
   * acknowledged.
   */
  replay(replayMs: number): void {
    this.#rewind((parcel) => {
      const { acked, sent, periodMs } = this.#progress(parcel.channel);
      return parcel.end > acked || (sent - parcel.end) * periodMs < replayMs;
    });
    for (const progress of this.#channels.values()) progress.acked = progress.sent = progress.answered = -1;
  }

  /** Goes back to the first parcel that is `wanted`; later ones count as not sent. */
  #rewind(wanted: (parcel: Parcel) => boolean): void {
    const first = this.#parcels.findIndex(wanted);
    this.#next = first < 0 ? this.#parcels.length : first;
    this.#unsentBytes = this.#parcels.slice(this.#next).reduce((sum, parcel) => sum + parcel.bytes.length, 0);
    for (const progress of this.#channels.values()) progress.sent = progress.answered = progress.acked;
    this.#asked = [];
  }

  /** Forgets, from the oldest on, the acknowledged data that are older than any replay. */
  #forget(): void {
    let count = 0;
    for (const parcel of this.#parcels) {
      const { acked, periodMs } = this.#progress(parcel.channel);
      if (count >= this.#next || (acked - parcel.end) * periodMs < REPLAY_MS) break;
      this.#bytes -= parcel.bytes.length;
      count++;
    }
    this.#parcels.splice(0, count);
    this.#next -= count;
  }

  /**
   * Drops the oldest parcels until there is room, and at least a 64th of all, because moving the others up takes long;
   * returns the number of their samples that the service has not acknowledged.
   */
  #dropOldest(): number {
    const least = this.#parcels.length >> 6;
    let count = 0;
    let lost = 0;
    for (const parcel of this.#parcels.slice(0, -1)) {
      if (count >= least && this.#bytes <= this.limitBytes) break;
      this.#bytes -= parcel.bytes.length;
      if (count >= this.#next) this.#unsentBytes -= parcel.bytes.length;
      lost += this.#unacknowledged(parcel);
      count++;
    }
    this.#parcels.splice(0, count);
    this.#next = Math.max(0, this.#next - count);
    return lost;
  }

  /** Number of a parcel's samples that the service has not acknowledged. */
  #unacknowledged({ channel, seq, end, width }: Parcel): number {
    return width * Math.min(end - seq, Math.max(0, end - this.#progress(channel).acked));
  }

  #progress(channel: number): Progress {
    const progress = this.#channels.get(channel);
    if (!progress) throw new RangeError(`the rate of channel ${channel} is not known`);
    return progress;
  }
}
