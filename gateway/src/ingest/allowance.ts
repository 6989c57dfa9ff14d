import type { Clock } from '@device-insights/fanout/platform/clock';
import { remember } from '@device-insights/fanout/platform/remember';

const DAY_MS = 86_400_000;
/** Owners that are remembered: the allowance of one that was forgotten is whole again. */
const REMEMBERED = 100_000;

/**
 * Limits how often each owner may do something: as often as `daily` at once, and on average as often in a day (the
 * generic cell rate algorithm, ITU-T I.371).
 */
export class Allowance {
  /** When the allowance of each owner is whole again, ms of the monotonic clock. */
  readonly #wholeAt = new Map<string, number>();

  constructor(private readonly clock: Pick<Clock, 'monotonic'>) {}

  /** Uses one of an owner's `daily`; false, without using any, if none is left. */
  take(owner: string, daily: number): boolean {
    const now = this.clock.monotonic();
    const wholeAt = Math.max(this.#wholeAt.get(owner) ?? now, now) + DAY_MS / daily;
    if (wholeAt - now > DAY_MS) return false;
    remember(this.#wholeAt, owner, wholeAt, REMEMBERED);
    return true;
  }
}
