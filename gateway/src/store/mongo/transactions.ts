import type { Clock } from '@device-insights/fanout/platform/clock';
import { type ClientSession, mongo } from 'mongoose';
import { StoreUnavailable } from '../store.js';

/**
 * Time for which a transaction that conflicts with others is repeated, ms: an insight must be readable within 5 s of
 * its `ts`.
 */
const TRANSACTION_MS = 4000;
/** Maximum wait for the transactions before it, ms: those of a server that refuses writes must not pile up. */
const QUEUE_MS = 10_000;

/**
 * Runs transactions one after the other, on one server session. So they do not conflict with each other if they write
 * the same document, and each one ends the previous one if a lost connection left it open.
 */
export class Transactions {
  readonly #session: ClientSession;
  readonly #clock: Clock;
  #last: Promise<unknown> = Promise.resolve();

  constructor(session: ClientSession, clock: Clock) {
    this.#session = session;
    this.#clock = clock;
  }

  /** UUID of the server session. */
  get id(): string | undefined {
    return this.#session.id?.id.toUUID().toString();
  }

  /** Runs calls as one transaction; repeats it if a writer elsewhere conflicted. Rejects with `StoreUnavailable` if many are waiting. */
  run<T>(calls: (session: ClientSession) => Promise<T>): Promise<T> {
    const latest = this.#clock.monotonic() + QUEUE_MS;
    const result = this.#last.then(() => {
      if (this.#clock.monotonic() > latest) throw new StoreUnavailable('too many changes wait for MongoDB; try again');
      return this.#attempts(calls);
    });
    this.#last = result.catch(() => undefined);
    return result;
  }

  async #attempts<T>(calls: (session: ClientSession) => Promise<T>): Promise<T> {
    const deadline = this.#clock.monotonic() + TRANSACTION_MS;
    for (;;) {
      try {
        return await attempt(this.#session, calls, () => this.#clock.monotonic() < deadline);
      } catch (error) {
        if (!hasLabel(error, 'TransientTransactionError') || this.#clock.monotonic() >= deadline) throw error;
      }
    }
  }
}

async function attempt<T>(
  session: ClientSession,
  calls: (session: ClientSession) => Promise<T>,
  inTime: () => boolean,
): Promise<T> {
  session.startTransaction({
    readConcern: { level: 'snapshot' },
    writeConcern: { w: 'majority' },
    readPreference: 'primary',
  });
  try {
    const result = await calls(session);
    await commit(session, inTime);
    return result;
  } catch (error) {
    // The server itself ends a transaction that cannot be reached; the first error is the one to report.
    if (session.inTransaction()) await session.abortTransaction().catch(() => {});
    throw error;
  }
}

/** A commit whose answer was lost can be requested again: it happens only once. */
async function commit(session: ClientSession, inTime: () => boolean): Promise<void> {
  for (;;) {
    try {
      await session.commitTransaction();
      return;
    } catch (error) {
      if (!hasLabel(error, 'UnknownTransactionCommitResult') || !inTime()) throw error;
    }
  }
}

function hasLabel(error: unknown, label: string): boolean {
  return error instanceof mongo.MongoError && error.hasErrorLabel(label);
}
