import type { Clock } from '@device-insights/fanout/platform/clock';

/**
 * A wall clock that never goes back: if the system's clock is set back, this clock continues from its time at `pace` ms
 * per ms until the system's clock has caught up (never, at a pace of 1).
 */
export class ForwardClock implements Pick<Clock, 'now' | 'monotonic'> {
  #last: number;
  #at: number;

  /** @param from the least time of the clock, ms since the epoch */
  constructor(
    private readonly clock: Pick<Clock, 'now' | 'monotonic'>,
    private readonly pace: number,
    from = Number.NEGATIVE_INFINITY,
  ) {
    this.#last = from;
    this.#at = clock.monotonic();
  }

  /** Whole milliseconds since the epoch. */
  now(): number {
    const at = this.monotonic();
    this.#last = Math.max(this.clock.now(), this.#last + (at - this.#at) * this.pace);
    this.#at = at;
    return Math.floor(this.#last);
  }

  /** Time by which this clock is ahead of the system's, ms; 0 if it is not, or was never read. Reading it changes nothing. */
  get aheadMs(): number {
    return Math.max(0, this.#last + (this.monotonic() - this.#at) * this.pace - this.clock.now());
  }

  monotonic(): number {
    return this.clock.monotonic();
  }
}
