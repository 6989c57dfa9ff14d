import { type Clock, systemClock } from './clock.js';

/** Time after which a limit that was not reached again is reported as new, ms. */
const QUIET_MS = 10_000;

/**
 * Reports that a limit is reached: once, however often it is exceeded, and again after a pause. (`Tally` counts each
 * time; `LogLimit` limits the lines of one text, whoever writes them.)
 */
export class Bound {
  #reachedAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly tell: () => void,
    private readonly clock: Pick<Clock, 'monotonic'> = systemClock,
  ) {}

  /** Call each time the limit is exceeded. */
  reached(): void {
    const now = this.clock.monotonic();
    if (now - this.#reachedAt > QUIET_MS) this.tell();
    this.#reachedAt = now;
  }
}
