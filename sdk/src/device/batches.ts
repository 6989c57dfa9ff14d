import type { Clock } from '../clock.js';
import type { ReadyChannel } from './messages.js';

/** Samples of one channel, numbered. */
export interface Batch {
  readonly channel: number;
  readonly seq: number;
  readonly ts: number;
  readonly samples: Float64Array;
}

interface Gathering {
  readonly channel: ReadyChannel;
  readonly seq: number;
  readonly ts: number;
  readonly parts: Float64Array[];
  instants: number;
  readonly cancel: () => void;
}

/**
 * Most by which a stamp may differ from the one that the batch's first stamp and the rate predict, ms; beyond it, a new
 * batch begins.
 */
const STAMP_TOLERANCE_MS = 0.5;

/** Collects small pushes into frames, channel by channel, so that samples pushed one by one are not sent one by one. */
export class Batches {
  readonly #gathering = new Map<number, Gathering>();

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
  add(channel: ReadyChannel, seq: number, ts: number, samples: Float64Array): void {
    const periodMs = 1000 / channel.sample_rate_hz;
    let batch = this.#gathering.get(channel.index);
    if (batch && !continues(batch, seq, ts, periodMs)) {
      this.flush(channel.index);
      batch = undefined;
    }
    batch ??= this.#begin(channel, seq, ts);
    batch.parts.push(samples);
    batch.instants += samples.length / channel.num_channels;
    if (batch.instants * periodMs >= this.batchMs) this.flush(channel.index);
  }

  /** Delivers the waiting samples of a channel. */
  flush(index: number): void {
    const batch = this.#gathering.get(index);
    if (!batch) return;
    this.#gathering.delete(index);
    batch.cancel();
    this.deliver({ channel: index, seq: batch.seq, ts: batch.ts, samples: joined(batch) });
  }

  /** Delivers all waiting samples. */
  flushAll(): void {
    for (const index of [...this.#gathering.keys()]) this.flush(index);
  }

  #begin(channel: ReadyChannel, seq: number, ts: number): Gathering {
    const cancel = this.clock.after(this.batchMs, () => this.flush(channel.index));
    const batch = { channel, seq, ts, parts: [], instants: 0, cancel };
    this.#gathering.set(channel.index, batch);
    return batch;
  }
}

function continues({ seq, ts, instants }: Gathering, nextSeq: number, nextTs: number, periodMs: number): boolean {
  if (nextSeq !== seq + instants) return false;
  if (Number.isNaN(ts) || Number.isNaN(nextTs)) return Number.isNaN(ts) && Number.isNaN(nextTs);
  return Math.abs(nextTs - ts - instants * periodMs) <= STAMP_TOLERANCE_MS;
}

function joined({ parts }: Gathering): Float64Array {
  const all = new Float64Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
