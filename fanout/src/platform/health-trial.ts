import type { Clock } from './clock.js';
import { within } from './deadline.js';

/** Time for which a result is reused, ms: anybody may ask, and each trial costs a write. */
const FRESH_MS = 1000;
/**
 * Maximum wait of a caller for a trial, ms, once there is an earlier result: probes of orchestrators give up after a
 * second, and would not see the reason.
 */
const PATIENCE_MS = 500;

/**
 * The result of a trial of the parts that a process needs. Concurrent calls share one trial; while it lasts, they get the
 * result of the last one.
 *
 * @param trial takes a limited time, and never rejects
 */
export function sharedTrial<T>(trial: () => Promise<T>, clock: Clock): () => Promise<T> {
  let last: { at: number; result: Promise<T> } | null = null;
  let done: { result: T } | null = null;
  return async () => {
    const now = clock.monotonic();
    if (!last || now - last.at >= FRESH_MS) {
      last = { at: now, result: trial() };
      void last.result.then((result) => {
        done = { result };
      });
    }
    const { result } = last;
    if (done && !(await within(PATIENCE_MS, result, clock))) return done.result;
    return result;
  };
}
