import type { Clock, Timer } from '@device-insights/fanout/process/clock';
import type { Log } from '@device-insights/fanout/process/log';
import { isoTime } from '../instant.js';
import { SteadyClock } from '../steady-clock.js';
import type { Store } from '../store/store.js';
import { ClockDoubt } from './clock-doubt.js';
import { eraseBefore } from './erasure.js';

const DAY_MS = 86_400_000;
/** Interval between two searches for old readings, ms. */
const LOOK_MS = 600_000;

/**
 * Erases, from now on, the readings that are older than `days`. Every gateway may do it at the same time. Uses the wall
 * clock, unless it is in doubt or was just set: a clock that is wrong by days erases too much or too little.
 */
export function keepFor(days: number, store: Store, clock: Clock, log: Pick<Log, 'info' | 'error'>): Timer {
  const [steady, doubt] = [new SteadyClock(clock), new ClockDoubt(store, clock)];
  let busy = false;
  let over = false;
  let cause: string | null = null;
  const look = async () => {
    if (busy) return;
    busy = true;
    try {
      const now = clock.now();
      const isSteady = steady.isSteady();
      const former = cause;
      cause = await doubt.look();
      if (cause !== null && cause !== former) log.error({ now: isoTime(now) }, cause);
      if (cause !== null || !isSteady) return;
      const erased = await eraseBefore({ store, clock }, now - days * DAY_MS);
      if (erased.sessions + erased.insights > 0)
        log.info({ ...erased, days }, 'erased readings that are older than RETENTION_DAYS');
    } catch (err) {
      if (!over)
        log.error(
          { err },
          'readings older than RETENTION_DAYS could not be erased; the next attempt is in ten minutes',
        );
    } finally {
      busy = false;
    }
  };
  void look();
  const timer = clock.every(LOOK_MS, () => void look());
  return {
    cancel() {
      over = true;
      timer.cancel();
    },
  };
}
