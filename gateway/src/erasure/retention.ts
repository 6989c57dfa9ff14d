import type { Clock, Timer } from '@device-insights/fanout/platform/clock';
import { countOne } from '@device-insights/fanout/platform/count';
import type { Log } from '@device-insights/fanout/platform/log';
import { isoTime } from '../instant.js';
import type { Store } from '../store/store.js';
import { eraseBefore } from './erasure.js';

const DAY_MS = 86_400_000;
/** Interval between two searches for old readings, ms. */
const LOOK_MS = 600_000;
/** A wall clock that advances by this much more or less than the monotonic clock was set; clocks that differ by more are doubted, ms. */
const STEP_MS = 60_000;
/**
 * Time for which nothing is erased after the start, and after the clock was set or differed from another gateway's, ms. What a
 * wrong clock erases is lost: this is the time to set it. A gateway that is restarted every night still erases.
 */
const TRUSTED_AFTER_MS = DAY_MS / 2;
const DOUBT =
  "the clock was set, or differs from another gateway's: RETENTION_DAYS erases nothing until the clock has run for 12 hours without being set; correct it if it is wrong";

/** Outcomes of a search for old readings: done, postponed because the clock may be wrong, or failed. */
export const RETENTION_RUNS = ['done', 'doubted', 'failed'] as const;
export type RetentionRun = (typeof RETENTION_RUNS)[number];

interface RetentionOptions {
  readonly days: number;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Pick<Log, 'info' | 'error'>;
  /** The largest difference between this gateway's clock and that of another one, ms. */
  readonly differenceMs: () => number;
  /** Number of searches, by outcome. */
  readonly runs: Map<RetentionRun, number>;
}

/** Erases, from now on, the readings that are older than `days` by the wall clock. Every gateway may do it at the same time. */
export function keepFor({ days, store, clock, log, differenceMs, runs }: RetentionOptions): Timer {
  let busy = false;
  let over = false;
  let isDoubtful = false;
  let offset = clock.now() - clock.monotonic();
  let since = clock.monotonic();
  const isTrusted = () => {
    const [before, at, wasDoubtful] = [offset, clock.monotonic(), isDoubtful];
    offset = clock.now() - at;
    isDoubtful = Math.max(Math.abs(offset - before), differenceMs()) > STEP_MS;
    if (isDoubtful) {
      since = at;
      countOne(runs, 'doubted');
    }
    if (isDoubtful && !wasDoubtful) log.error({ now: isoTime(clock.now()) }, DOUBT);
    return at - since >= TRUSTED_AFTER_MS;
  };
  const look = async () => {
    if (!isTrusted() || busy) return;
    busy = true;
    try {
      const erased = await eraseBefore({ store, clock }, clock.now() - days * DAY_MS);
      countOne(runs, 'done');
      if (erased.sessions + erased.insights > 0)
        log.info({ ...erased, days }, 'erased readings that are older than RETENTION_DAYS');
    } catch (err) {
      countOne(runs, 'failed');
      if (!over)
        log.error(
          { err },
          'readings older than RETENTION_DAYS could not be erased; the next attempt is in ten minutes',
        );
    } finally {
      busy = false;
    }
  };
  const timer = clock.every(LOOK_MS, () => void look());
  return {
    cancel() {
      over = true;
      timer.cancel();
    },
  };
}
