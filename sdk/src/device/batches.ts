import type { Clock } from '../clock.js';
import { STAMP_TOLERANCE_MS } from '../limits.js';
import type { Batch, Channel } from './outbox.js';

interface Gathering {
  readonly seq: number;
  readonly ts: number;
  readonly samples: number[];
  readonly cancel: () => void;
}

/** Collects small pushes into frames, channel by channel, so that samples pushed one by one are not sent one by one. */
export class Batches {
  readonly #gathering = new Map<Channel, Gathering>();

  /**
   * @param batchMs data time of a batch, and its longest wait, ms
   * @param deliver receives the batches, in order for each channel
   */
  constructor(
    readonly batchMs: number,
    readonly clock: Clock,
    readonly deliver: (batch: Batch) => void,
  ) {}

  /** Takes samples of a channel. */
  add({ channel, seq, ts, samples }: Batch): void {
    const periodMs = 1000 / channel.sample_rate_hz;
    const lengthMs = (batch: Gathering) => (batch.samples.length / channel.num_channels) * periodMs;
    let batch = this.#gathering.get(channel);
    if (batch) {
      const isStray = Math.abs(ts - batch.ts - lengthMs(batch)) > STAMP_TOLERANCE_MS;
      const isOdd = Number.isNaN(ts) !== Number.isNaN(batch.ts);
      if (isStray || isOdd || seq !== batch.seq + batch.samples.length / channel.num_channels) {
        this.flush(channel);
        batch = undefined;
      }
    }
    if (!batch) {
      batch = { seq, ts, samples: [], cancel: this.clock.after(this.batchMs, () => this.flush(channel)) };
      this.#gathering.set(channel, batch);
    }
    for (const value of samples) batch.samples.push(value);
    if (lengthMs(batch) >= this.batchMs) this.flush(channel);
  }

  /** Delivers the waiting samples of a channel. */
  flush(channel: Channel): void {
    const batch = this.#gathering.get(channel);
    if (!batch) return;
    this.#gathering.delete(channel);
    batch.cancel();
    this.deliver({ channel, seq: batch.seq, ts: batch.ts, samples: Float64Array.from(batch.samples) });
  }

  /** Delivers all waiting samples. */
  flushAll(): void {
    for (const channel of this.#gathering.keys()) this.flush(channel);
  }
}
