/** Samples with their place in the channel's numbers. */
export interface NumberedSamples {
  readonly channel: number | string;
  /** Number of the first instant, counted from the device's start; absent: the one after the last pushed. */
  readonly seq?: number;
  /** Device time of the first instant, ms since the epoch; NaN where the device has no clock. */
  readonly ts: number;
  readonly samples: Float64Array;
}

/** Samples that came before the service has said what the channels are. Bounded in bytes; the oldest go first. */
export class EarlySamples {
  #waiting: NumberedSamples[] = [];
  #bytes = 0;

  constructor(readonly limitBytes: number) {}

  get bytes(): number {
    return this.#bytes;
  }

  /** Takes samples; returns how many were lost to make room for them. */
  add(samples: NumberedSamples): number {
    this.#waiting.push(samples);
    this.#bytes += samples.samples.byteLength;
    let lost = 0;
    while (this.#bytes > this.limitBytes && this.#waiting.length > 1) lost += this.#dropOldest();
    return lost;
  }

  /** All that waits, in order; nothing waits afterwards. */
  take(): NumberedSamples[] {
    const all = this.#waiting;
    this.#waiting = [];
    this.#bytes = 0;
    return all;
  }

  #dropOldest(): number {
    const dropped = this.#waiting.shift();
    this.#bytes -= dropped?.samples.byteLength ?? 0;
    return dropped?.samples.length ?? 0;
  }
}
