import type { Clock } from '@device-insights/fanout/platform/clock';
import type { ClientSession } from 'mongoose';
import { StoreUnavailable } from '../store.js';

const OPTIONS = {
  readConcern: { level: 'snapshot' },
  writeConcern: { w: 'majority' },
  readPreference: 'primary',
} as const;
/** Limits of one transaction for which others wait: those of a server that refuses writes must not pile up. */
const QUEUE_LIMITS = 3;

/**
 * Runs transactions one after the other, on one server session. So they do not conflict with each other if they write
 * the same document, and each one ends the previous one if a lost connection left it open.
 */
export class Transactions {
  #last: Promise<unknown> = Promise.resolve();

  /** @param limitMs how long the driver repeats a transaction that conflicts with others, ms */
  constructor(
    private readonly session: ClientSession,
    private readonly clock: Clock,
    private readonly limitMs: number,
  ) {}

  /** UUID of the server session. */
  get id(): string | undefined {
    return this.session.id?.id.toUUID().toString();
  }

  /** Runs calls as one transaction; repeats it if a writer elsewhere conflicted. Rejects with `StoreUnavailable` if many are waiting. */
  run<T>(calls: (session: ClientSession) => Promise<T>): Promise<T> {
    const latest = this.clock.monotonic() + QUEUE_LIMITS * this.limitMs;
    const result = this.#last.then(() => {
      if (this.clock.monotonic() > latest) throw new StoreUnavailable('too many changes wait for MongoDB; try again');
      return this.session.withTransaction(calls, { ...OPTIONS, timeoutMS: this.limitMs });
    });
    this.#last = result.catch(() => undefined);
    return result;
  }
}
