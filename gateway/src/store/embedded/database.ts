import Libsql from 'libsql';
import type { Clock } from '../../clock.js';
import { StoreUnavailable } from '../store.js';

/** What libsql binds. Never a boolean: libsql 0.5 aborts the process on one. Text is cut at U+0000 when read. */
export type Value = string | number | null;

/** SQLite waits this long, blocking the event loop, for another process's transaction; then we wait, not blocking it. */
const BUSY_TIMEOUT_MS = 5;
const RETRY_MS = 10;
const MAX_WAIT_MS = 3_000;

/** SQLite's primary result codes (sqlite.org/rescode.html). */
const BUSY = [5, 6];
const FAILING = [...BUSY, 8, 10, 13, 14]; // READONLY, IOERR, FULL, CANTOPEN

/** A prepared statement. Values are bound by position. */
export interface Statement<Row> {
  get(...values: Value[]): Row | undefined;
  all(...values: Value[]): Row[];
  /** Returns the number of rows changed. */
  run(...values: Value[]): number;
}

/**
 * One connection to an SQLite file that other processes may use too. SQLite is synchronous, so each call holds the
 * event loop while it runs; what another process's lock would hold up waits on the clock instead.
 *
 * WAL lets readers go on beside a writer. synchronous=FULL syncs the log at each commit: what was acknowledged
 * survives a killed process and a power cut. Readings are committed in groups, so a sync is shared by many.
 */
export class Database {
  readonly #db: Libsql.Database;
  readonly #clock: Clock;
  readonly #statements = new Map<string, Statement<unknown>>();
  /** The end of the queue of writes. */
  #writes: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(file: string, clock: Clock) {
    this.#db = new Libsql(file, { timeout: BUSY_TIMEOUT_MS });
    this.#clock = clock;
  }

  /** Prepares a statement, once per text. `Row` says what its columns are. */
  prepare<Row>(sql: string): Statement<Row> {
    const known = this.#statements.get(sql);
    if (known) return known as Statement<Row>;
    const statement = this.#db.prepare(sql);
    const made: Statement<Row> = {
      get: (...values) => statement.get(values) as Row | undefined,
      all: (...values) => statement.all(values) as Row[],
      run: (...values) => statement.run(values).changes,
    };
    this.#statements.set(sql, made);
    return made;
  }

  /** Runs statements that return nothing, outside a transaction. */
  exec(sql: string): void {
    this.#db.exec(sql);
  }

  /** Runs reads. Rejects with `StoreUnavailable` where the file cannot be read now. */
  read<T>(run: () => T): Promise<T> {
    return this.#patiently(this.#deadline(), run);
  }

  /**
   * Runs `run` as one transaction, after the writes asked for earlier. It may run again where another process was in
   * the way; what it throws undoes it and rejects.
   */
  write<T>(run: () => T): Promise<T> {
    const deadline = this.#deadline();
    const done = this.#writes.then(() => this.#patiently(deadline, () => this.#transaction(run)));
    this.#writes = done.catch(() => {});
    return done;
  }

  /** Ends after the writes asked for, and folds the log into the file. Idempotent. */
  async close(): Promise<void> {
    await this.#writes;
    if (this.#closed) return;
    this.#closed = true;
    try {
      this.#db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    } catch {
      // The log stays, and the next to open the file reads it.
    }
    this.#db.close();
  }

  /** IMMEDIATE takes the lock first: no statement after it can find the file busy. */
  #transaction<T>(run: () => T): T {
    this.#db.exec('BEGIN IMMEDIATE');
    try {
      const result = run();
      this.#db.exec('COMMIT');
      return result;
    } catch (error) {
      if (this.#db.inTransaction) this.#db.exec('ROLLBACK');
      throw error;
    }
  }

  #deadline(): number {
    return this.#clock.now() + MAX_WAIT_MS;
  }

  async #patiently<T>(deadline: number, run: () => T): Promise<T> {
    for (;;) {
      if (this.#closed) throw new StoreUnavailable('the store is closed');
      try {
        return run();
      } catch (error) {
        if (!isOneOf(BUSY, error) || this.#clock.now() >= deadline) throw told(error);
      }
      await new Promise<void>((resolve) => this.#clock.after(RETRY_MS, resolve));
    }
  }
}

function told(error: unknown): unknown {
  if (!isOneOf(FAILING, error)) return error;
  return new StoreUnavailable(`the embedded store failed: ${error.message}`, { cause: error });
}

function isOneOf(codes: readonly number[], error: unknown): error is Error {
  if (!(error instanceof Error) || !('rawCode' in error) || typeof error.rawCode !== 'number') return false;
  return codes.includes(error.rawCode & 0xff); // the low byte of an extended code is the primary one
}
