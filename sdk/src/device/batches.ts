import type { Clock } from '../clock.js';
import { BATCH_MS, STAMP_TOLERANCE_MS } from '../limits.js';
import type { Batch, Channel } from './outbox.js';

interface Gathering extends Batch {
  readonly values: number[];
  readonly cancel: () => void;
}

/** Collects small pushes into frames, channel by channel, so that samples pushed one by one are not sent one by one. */
export class Batches {
  readonly #gathering = new Map<Channel, Gathering>();

  /** @param deliver receives the batches, in order for each channel */
  constructor(
    readonly clock: Clock,
    readonly deliver: (batch: Batch) => void,
  ) {}

  /** Takes samples that follow the last ones of their channel; those without a time continue that of the ones before. */
  add(added: Batch): void {
    const { channel, ts, samples } = added;
    const lengthMs = ({ values }: Gathering) => (values.length * 1000) / channel.num_channels / channel.sample_rate_hz;
    const before = this.#gathering.get(channel);
    if (before && !(Number.isNaN(ts) || Math.abs(ts - before.ts - lengthMs(before)) <= STAMP_TOLERANCE_MS))
      this.flush(channel);
    const batch = this.#gathering.get(channel) ?? {
      ...added,
      values: [],
      cancel: this.clock.after(BATCH_MS, () => this.flush(channel)),
    };
    this.#gathering.set(channel, batch);
    for (const value of samples) batch.values.push(value);
    if (lengthMs(batch) >= BATCH_MS) this.flush(channel);
  }

  /** Delivers the waiting samples of a channel. */
  flush(channel: Channel): void {
    const batch = this.#gathering.get(channel);
    if (!batch) return;
    this.#gathering.delete(channel);
    batch.cancel();
    this.deliver({ ...batch, samples: Float64Array.from(batch.values) });
  }

  /** Delivers all waiting samples. */
  flushAll(): void {
    for (const channel of this.#gathering.keys()) this.flush(channel);
  }
}
