import type { Clock } from '@device-insights/fanout/process/clock';

/** A wall clock that advances by this much more or less than the monotonic clock was set, ms. */
const STEP_MS = 60_000;
/**
 * Time for which a clock must have run since the start of the process and since it was set, ms: a computer without a
 * battery for its clock gets the time from the network, some time after its start.
 */
const STEADY_MS = 3_600_000;

/** Tells whether a wall clock has run for long enough to do with it what cannot be undone. */
export class SteadyClock {
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>;
  /** The wall clock and the monotonic clock when they were last read, ms. */
  #last: { readonly wall: number; readonly at: number };
  /** Monotonic time since which the clock was not set while this process ran, ms. */
  #since: number;

  constructor(clock: Pick<Clock, 'now' | 'monotonic'>) {
    this.#clock = clock;
    this.#last = { wall: clock.now(), at: clock.monotonic() };
    this.#since = this.#last.at;
  }

  /** Whether the clock has run for an hour, from the construction, without being set. Call it every ten minutes or more often. */
  isSteady(): boolean {
    const [wall, at] = [this.#clock.now(), this.#clock.monotonic()];
    if (Math.abs(wall - this.#last.wall - (at - this.#last.at)) > STEP_MS) this.#since = at;
    this.#last = { wall, at };
    return at - this.#since >= STEADY_MS;
  }
}
