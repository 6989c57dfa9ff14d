import { FairScheduler, type Gate, TURN_MS } from '@device-insights/fanout/platform/fair-scheduler';
import type { Publisher } from '../publisher/publisher.js';

/** Minimum time from one round of the event loop with messages to the next, while no reading waits to be stored, ms. */
const ROUND_MS = 1;
/** Never changes: waiting for it is a rest. */
const UNCHANGED = new Int32Array(new SharedArrayBuffer(4));

/**
 * The scheduler of the sessions, and the time in which their messages are handled without a turn. No session works while the
 * publisher cannot accept its results.
 */
export class SessionScheduler extends FairScheduler {
  /** When the time outside the turns is used up, ms; null if none has been used in this round of the event loop. */
  #end: number | null = null;
  #roundEnded = Number.NEGATIVE_INFINITY;

  constructor(readonly publisher: Gate & Pick<Publisher, 'queued'>) {
    super(publisher);
  }

  /**
   * Whether a step may be done at once. If not, the worker must be added. Most rounds of the event loop need no turn, and
   * so nothing at their end.
   */
  hasTime(): boolean {
    const now = performance.now();
    if (this.#end === null) {
      this.#end = now + TURN_MS;
      setImmediate(this.#endRound);
    }
    return this.isIdle && this.publisher.accepting && now < this.#end;
  }

  /**
   * Messages of many devices come one by one, and waking the process costs as much as handling one. So it wakes once a
   * millisecond for all of them, unless somebody waits for a reading. Without this rest, 1,000 devices cost a quarter more
   * CPU (`npm run bench -w gateway -- live`).
   */
  readonly #endRound = (): void => {
    this.#end = null;
    const rest = this.#roundEnded + ROUND_MS - performance.now();
    if (rest > 0 && this.publisher.queued === 0) Atomics.wait(UNCHANGED, 0, 0, rest);
    this.#roundEnded = performance.now();
  };
}
