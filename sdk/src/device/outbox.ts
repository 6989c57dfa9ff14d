import { HEADER_BYTES, REPLAY_MS, WIDEST_SAMPLE } from '../limits.js';
import { encodeFrame } from './frame-encoder.js';
import type { ReadyChannel } from './messages.js';

/** A channel of the session, with the numbers of its instants. */
export interface Channel extends ReadyChannel {
  /** The number that the service expected first, and the one after the newest, counted from there. */
  readonly origin: number;
  next: number;
  /** All lower numbers were received or given up. */
  acked: number;
  /** All lower numbers have been sent or never existed. */
  sent: number;
  /** All lower numbers were acknowledged or refused. */
  answered: number;
}

/** Numbered samples of a channel. */
export interface Batch {
  readonly channel: Channel;
  readonly seq: number;
  readonly ts: number;
  readonly samples: Float64Array;
}

/** An encoded frame to be sent. */
interface Parcel {
  readonly channel: Channel;
  /** Number of its first instant, and the one after its last. */
  readonly seq: number;
  readonly end: number;
  /** Values per instant. */
  readonly width: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Items that wait, the oldest first. Limited in bytes; the oldest are dropped first, the newest never. */
export class Backlog<Item extends { readonly bytes: ArrayBufferView }> {
  /** Bytes of all items. */
  bytes = 0;
  readonly items: Item[] = [];

  constructor(readonly limit: number) {}

  /**
   * Takes an item. Returns those that were dropped to make room for it, a 64th of all at a time: moving the others up
   * takes long.
   */
  add(item: Item): Item[] {
    const { items } = this;
    items.push(item);
    this.bytes += item.bytes.byteLength;
    const dropped: Item[] = [];
    while (this.bytes > this.limit && items.length > 1) dropped.push(...this.remove(items.length >> 6 || 1));
    return dropped;
  }

  /** Removes and returns the oldest. */
  remove(count: number): Item[] {
    const removed = this.items.splice(0, count);
    this.bytes -= sizeOf(removed);
    return removed;
  }
}

function sizeOf(items: readonly { readonly bytes: ArrayBufferView }[]): number {
  return items.reduce((sum, { bytes }) => sum + bytes.byteLength, 0);
}

/**
 * A device's frames between being measured and being forgotten: those to send, those sent but not acknowledged, and the
 * last minute of the acknowledged ones, which a gateway may request again.
 */
export class Outbox {
  /** Bytes that have not been sent on this connection. */
  unsentBytes = 0;
  /** The session's channels. */
  channels: readonly Channel[] = [];
  readonly #parcels: Backlog<Parcel>;
  /** Index of the next to send. */
  #next = 0;
  /** For each ping without a pong, the channels with the first number of each that had not been sent before it. */
  #asked: (readonly [Channel, sent: number])[][] = [];

  /** @param limit maximum number of bytes that are kept */
  constructor(limit: number) {
    this.#parcels = new Backlog(limit);
  }

  /** Samples that have not been sent on this connection, except those that are acknowledged. */
  get unsentSamples(): number {
    return unacknowledged(this.#parcels.items.slice(this.#next));
  }

  /** Data time that has been sent but neither acknowledged nor refused, on the channel with most of it; ms. */
  get unackedMs(): number {
    return Math.max(
      0,
      ...this.channels.map((channel) => lengthMs(channel, channel.sent, Math.max(channel.acked, channel.answered))),
    );
  }

  /**
   * Takes samples, in as many frames as `maxFrameBytes` requires; returns the number of samples dropped to make room.
   *
   * @throws RangeError as `encodeFrame`
   */
  add({ channel, seq, ts, samples }: Batch, maxFrameBytes: number): number {
    const { index, num_channels: width, sample_rate_hz } = channel;
    const instants = samples.length / width;
    const most = Math.max(1, Math.floor((maxFrameBytes - HEADER_BYTES) / WIDEST_SAMPLE / width));
    let lost = 0;
    for (let from = 0; from < instants; from += most) {
      const to = Math.min(instants, from + most);
      const part = samples.subarray(from * width, to * width);
      const stamp = ts + (from * 1000) / sample_rate_hz;
      const bytes = encodeFrame({ channel: index, seq: seq + from, ts: stamp, samples: part });
      this.unsentBytes += bytes.length;
      const dropped = this.#parcels.add({ channel, seq: seq + from, end: seq + to, width, bytes });
      this.unsentBytes -= sizeOf(dropped.slice(this.#next));
      this.#next = Math.max(0, this.#next - dropped.length);
      lost += unacknowledged(dropped);
    }
    return lost;
  }

  /** The next frame to send, which then counts as sent; undefined if all have been sent. */
  take(): Uint8Array<ArrayBuffer> | undefined {
    const parcel = this.#parcels.items[this.#next];
    if (!parcel) return undefined;
    const { channel, seq, end, bytes } = parcel;
    this.#next++;
    this.unsentBytes -= bytes.length;
    if (channel.acked < 0) channel.acked = seq;
    channel.sent = Math.max(channel.sent, end);
    return bytes;
  }

  /** The service has received or given up all numbers below those given, by the index of their channel. */
  ack(nextSeq: Readonly<Record<string, number>>): void {
    for (const channel of this.channels) channel.acked = nextSeq[channel.index] ?? channel.acked;
    const { items } = this.#parcels;
    const isNeeded = ({ channel, end }: Parcel) => lengthMs(channel, channel.acked, end) < REPLAY_MS;
    const first = items.findIndex((parcel, n) => n >= this.#next || isNeeded(parcel));
    const count = first < 0 ? items.length : first;
    this.#parcels.remove(count);
    this.#next -= count;
  }

  /** A ping is being sent. */
  ping(): void {
    this.#asked.push(this.channels.map((channel) => [channel, channel.sent]));
  }

  /**
   * The next pong: the service has dealt with all that was sent before its ping, and refused what it does not
   * acknowledge. What was sent after the ping may still be on its way.
   */
  pong(): void {
    for (const [channel, sent] of this.#asked.shift() ?? []) channel.answered = sent;
  }

  /**
   * A new connection: goes back to the data that were not acknowledged, and by `replayMs` on a gateway without the
   * session's signal; later data count as not sent.
   */
  resume(replayMs: number): void {
    const { items } = this.#parcels;
    const first = items.findIndex(
      ({ channel, end }) => end > channel.acked || (replayMs > 0 && lengthMs(channel, channel.sent, end) < replayMs),
    );
    this.#next = first < 0 ? items.length : first;
    this.unsentBytes = sizeOf(items.slice(this.#next));
    for (const channel of this.channels) {
      if (replayMs > 0) channel.acked = -1;
      channel.sent = channel.answered = channel.acked;
    }
    this.#asked = [];
  }
}

/** Data time from one number of a channel to another, ms. */
function lengthMs({ sample_rate_hz }: Channel, to: number, from: number): number {
  return ((to - from) * 1000) / sample_rate_hz;
}

/** Number of the samples of frames that the service has not acknowledged. */
function unacknowledged(parcels: readonly Parcel[]): number {
  return parcels.reduce(
    (sum, { channel, seq, end, width }) => sum + width * Math.min(end - seq, Math.max(0, end - channel.acked)),
    0,
  );
}
