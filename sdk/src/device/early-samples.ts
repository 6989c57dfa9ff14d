/** Samples with their position in the channel's numbers. */
export interface NumberedSamples {
  /** Index of the channel in the device model, or its modality if only one channel has it. */
  readonly channel: number | string;
  /** Number of the first instant, counted from the device's start; absent: the one after the last pushed. */
  readonly seq?: number;
  /** Device time of the first instant, ms since the epoch; NaN if the device has no clock. */
  readonly ts: number;
  /** Interleaved, whole instants; NaN is a missing value. */
  readonly samples: Float64Array;
}

/** Samples pushed before the service has announced the channels. Limited in bytes; the oldest are dropped first. */
export class EarlySamples {
  #waiting: NumberedSamples[] = [];
  #bytes = 0;

  constructor(readonly limitBytes: number) {}

  get bytes(): number {
    return this.#bytes;
  }

  /** Number of waiting values. */
  get samples(): number {
    return this.#bytes / Float64Array.BYTES_PER_ELEMENT;
  }

  /** Takes samples; returns the number of samples dropped to make room for them. */
  add(samples: NumberedSamples): number {
    this.#waiting.push(samples);
    this.#bytes += samples.samples.byteLength;
    return this.#bytes > this.limitBytes ? this.#dropOldest() : 0;
  }

  /**
   * Yields the waiting samples, in order. Each is kept until the next one is requested: if the receiver fails, the
   * sample given to it still waits.
   */
  *take(): Generator<NumberedSamples> {
    let taken = 0;
    try {
      for (const samples of this.#waiting) {
        yield samples;
        this.#bytes -= samples.samples.byteLength;
        taken++;
      }
    } finally {
      this.#waiting = this.#waiting.slice(taken);
    }
  }

  /**
   * Drops the oldest until there is room, and at least a 64th of all, because moving the others up takes long; returns
   * the number of their values.
   */
  #dropOldest(): number {
    const least = this.#waiting.length >> 6;
    const before = this.samples;
    let count = 0;
    for (const { samples } of this.#waiting.slice(0, -1)) {
      if (count >= least && this.#bytes <= this.limitBytes) break;
      this.#bytes -= samples.byteLength;
      count++;
    }
    this.#waiting.splice(0, count);
    return before - this.samples;
  }
}
