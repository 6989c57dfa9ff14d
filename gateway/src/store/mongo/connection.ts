import { type ClientSession, type Connection, createConnection, mongo } from 'mongoose';
import type { Clock } from '../../clock.js';
import { StoreUnavailable } from '../store.js';

/** How long a call waits for a primary, and for an answer, ms. The driver tries a read or write that is safe to repeat once more. */
const SERVER_SELECTION_MS = 3000;
const SOCKET_MS = 3000;
/** How long a transaction that meets others is begun anew, ms: what was stamped must be readable within 5 s. */
const TRANSACTION_MS = 4000;
/** The database where the URI names none. */
const DATABASE = 'device-insights';

/** Server codes that say "not now": time limits, and a write that lost against another one. */
const PASSING_CODES = [50, 64, 91, 112, 189, 202, 262, 10107, 11600, 11602, 13435, 13436];
const PASSING_LABELS = ['TransientTransactionError', 'UnknownTransactionCommitResult', 'RetryableWriteError'];

/** One client of a MongoDB replica set. Writes are acknowledged by a majority, reads go to the primary. */
export class MongoConnection {
  readonly connection: Connection;
  readonly #clock: Clock;
  #closed = false;

  private constructor(connection: Connection, clock: Clock) {
    this.connection = connection;
    this.#clock = clock;
  }

  /** Connects. Rejects with `StoreUnavailable` where no server answers, with another error where it has no transactions. */
  static async open(uri: string, clock: Clock): Promise<MongoConnection> {
    const connection = createConnection(uri, {
      ...(/^mongodb(\+srv)?:\/\/[^/]+\/[^?]/.test(uri) ? {} : { dbName: DATABASE }),
      ...{ autoCreate: false, autoIndex: false, bufferCommands: false },
      ...{ writeConcern: { w: 'majority' }, readPreference: 'primary' },
      ...{ serverSelectionTimeoutMS: SERVER_SELECTION_MS, waitQueueTimeoutMS: SERVER_SELECTION_MS },
      ...{ connectTimeoutMS: SERVER_SELECTION_MS, socketTimeoutMS: SOCKET_MS },
    });
    const opened = new MongoConnection(connection, clock);
    await opened.run(() => connection.asPromise());
    await opened.run(() => refuseStandalone(connection));
    return opened;
  }

  /** Runs calls; what says "not now" becomes `StoreUnavailable`. */
  async run<T>(calls: () => Promise<T>): Promise<T> {
    if (this.#closed) throw new StoreUnavailable('the store is closed');
    try {
      return await calls();
    } catch (error) {
      throw told(error);
    }
  }

  /** Runs calls as one transaction, again where another writer was in the way. */
  transaction<T>(calls: (session: ClientSession) => Promise<T>): Promise<T> {
    const deadline = this.#clock.now() + TRANSACTION_MS;
    return this.run(() =>
      this.connection.withSession(async (session) => {
        for (;;) {
          try {
            return await attempt(session, calls, () => this.#clock.now() < deadline);
          } catch (error) {
            if (!hasLabel(error, 'TransientTransactionError') || this.#clock.now() >= deadline) throw error;
          }
        }
      }),
    );
  }

  /** Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.connection.close();
  }
}

/** Whether a write was refused by the unique index over exactly these fields. */
export function violates(error: unknown, ...fields: readonly string[]): boolean {
  if (!isDuplicate(error)) return false;
  const { keyPattern } = error;
  return JSON.stringify(Object.keys(keyPattern ?? {})) === JSON.stringify(fields);
}

/** Whether a write was refused by a unique index. */
export function isDuplicate(error: unknown): error is mongo.MongoServerError {
  return error instanceof mongo.MongoServerError && error.code === 11000;
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
    // The server ends a transaction that cannot be reached by itself; the first error is the one to tell.
    if (session.inTransaction()) await session.abortTransaction().catch(() => {});
    throw error;
  }
}

/** A commit whose answer was lost may be asked for again: it happens once. */
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

async function refuseStandalone(connection: Connection): Promise<void> {
  const hello = await connection.db?.admin().command({ hello: 1 });
  if (hello && hasTransactions(hello)) return;
  await connection.close();
  throw new Error(
    'MONGODB_URI names a stand-alone server, which has no transactions: start mongod with --replSet rs0 and run ' +
      'rs.initiate() once (one node is enough)',
  );
}

/** Whether a server that answers `hello` like this has transactions: a member of a replica set, or a router (`mongos`). */
export function hasTransactions(hello: { setName?: unknown; msg?: unknown }): boolean {
  return hello.setName !== undefined || hello.msg === 'isdbgrid';
}

function told(error: unknown): unknown {
  if (!passes(error)) return error;
  return new StoreUnavailable(`MongoDB does not answer: ${error.message}`, { cause: error });
}

function passes(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  if (error instanceof mongo.MongoServerError)
    return PASSING_CODES.includes(Number(error.code)) || PASSING_LABELS.some((label) => hasLabel(error, label));
  if (error instanceof mongo.MongoError) return !(error instanceof mongo.MongoInvalidArgumentError);
  return error.name === 'MongooseServerSelectionError';
}
