import type { Batch } from './batches.js';
import { encodeFrame, HEADER_BYTES } from './frame-encoder.js';

/** An encoded frame on its way. */
export interface Parcel {
  readonly channel: number;
  /** Number of its first instant, and the one after its last. */
  readonly seq: number;
  readonly end: number;
  /** Values an instant. */
  readonly width: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Bytes of a sample in the widest encoding. */
const WIDEST_SAMPLE = 4;

/**
 * Encodes samples into as many frames as `maxFrameBytes` asks for.
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
  /** Everything below is received or given up. */
  acked: number;
  /** Everything below has been sent or was never there. */
  sent: number;
}

/** How long acknowledged frames are kept for a gateway that lost its state (`replay_ms`), ms of data time. */
const REPLAY_MS = 60_000;

/**
 * A device's frames between being measured and being forgotten: those to send, those sent but not acknowledged, and the last minute
 * of the acknowledged, which a gateway may ask for again. Bounded in bytes; the oldest go first.
 */
export class Outbox {
  #parcels: Parcel[] = [];
  /** Index of the next to send. */
  #next = 0;
  #bytes = 0;
  #unsentBytes = 0;
  readonly #channels = new Map<number, Progress>();

  /** @param limitBytes most bytes that are kept */
  constructor(readonly limitBytes: number) {}

  /** Bytes that have not been sent on this connection. */
  get unsentBytes(): number {
    return this.#unsentBytes;
  }

  /** Data time that has been sent but not acknowledged, on the channel which has most of it; ms. */
  get unackedMs(): number {
    let most = 0;
    for (const { periodMs, acked, sent } of this.#channels.values()) most = Math.max(most, (sent - acked) * periodMs);
    return most;
  }

  /** Tells the rate of a channel, Hz; known before its first parcel. */
  setRate(channel: number, rateHz: number): void {
    const { acked = -1, sent = -1 } = this.#channels.get(channel) ?? {};
    this.#channels.set(channel, { periodMs: 1000 / rateHz, acked, sent });
  }

  /** Takes a parcel; returns how many samples were lost to make room for it. */
  add(parcel: Parcel): number {
    this.#parcels.push(parcel);
    this.#bytes += parcel.bytes.length;
    this.#unsentBytes += parcel.bytes.length;
    let lost = 0;
    while (this.#bytes > this.limitBytes && this.#parcels.length > 1) lost += this.#dropOldest();
    return lost;
  }

  /** The next parcel to send, now taken as sent; undefined where all are. */
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

  /** Everything of the channel below `nextSeq` is received or given up. */
  acknowledge(channel: number, nextSeq: number): void {
    const progress = this.#channels.get(channel);
    if (!progress) return;
    progress.acked = nextSeq;
    this.#forget();
  }

  /** A new connection to the same session: goes on after what has been acknowledged. */
  resume(): void {
    this.#rewind((parcel) => parcel.end > this.#progress(parcel.channel).acked);
  }

  /** A new connection to a gateway without the session's signal: goes back by `replayMs`, and to all that was not acknowledged. */
  replay(replayMs: number): void {
    this.#rewind((parcel) => {
      const { acked, sent, periodMs } = this.#progress(parcel.channel);
      return parcel.end > acked || (sent - parcel.end) * periodMs < replayMs;
    });
    for (const progress of this.#channels.values()) progress.acked = progress.sent = -1;
  }

  /** Goes back to the first parcel that is `wanted`; nothing counts as sent from there on. */
  #rewind(wanted: (parcel: Parcel) => boolean): void {
    const first = this.#parcels.findIndex(wanted);
    this.#next = first < 0 ? this.#parcels.length : first;
    this.#unsentBytes = this.#parcels.slice(this.#next).reduce((sum, parcel) => sum + parcel.bytes.length, 0);
    for (const progress of this.#channels.values()) progress.sent = progress.acked;
  }

  /** Forgets from the oldest on what is acknowledged and older than any replay. */
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

  /** Drops the oldest parcel; returns how many of its samples the service has not acknowledged. */
  #dropOldest(): number {
    const parcel = this.#parcels.shift();
    if (!parcel) return 0;
    this.#bytes -= parcel.bytes.length;
    if (this.#next > 0) this.#next--;
    else this.#unsentBytes -= parcel.bytes.length;
    const { acked } = this.#progress(parcel.channel);
    return parcel.width * Math.min(parcel.end - parcel.seq, Math.max(0, parcel.end - acked));
  }

  #progress(channel: number): Progress {
    const progress = this.#channels.get(channel);
    if (!progress) throw new RangeError(`channel ${channel} has no rate`);
    return progress;
  }
}
