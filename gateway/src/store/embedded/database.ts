import type { Clock } from '@device-insights/fanout/platform/clock';
import type Libsql from 'libsql';
import { StoreUnavailable } from '../store.js';
import { connect } from './connection.js';
import { meaningOf } from './failures.js';
import { Soundness } from './soundness.js';

/** Types that libsql binds. Never a boolean: libsql 0.5 aborts the process on one. Text is cut at U+0000 when read. */
export type Value = string | number | null;

/** Lock timeout, ms: short for reads, of which others wait for their turn in the thread. */
const READER_TIMEOUT_MS = 5;
const WRITER_TIMEOUT_MS = 3_000;
const RETRY_MS = 10;
const MAX_WAIT_MS = 3_000;

/** A statement, and the values that it binds by position. */
export interface Statement {
  readonly sql: string;
  readonly values: readonly Value[];
}

/** A write that waits for the next transaction. */
interface Write {
  readonly run: () => unknown;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Runs a write; returns the function that settles it. */
function answerOf({ run, resolve }: Pick<Write, 'run' | 'resolve'>): () => void {
  const result = run();
  return () => resolve(result);
}

/**
 * One connection to an SQLite file that other connections, threads and processes also use. SQLite is synchronous: each
 * call blocks its thread, also a read if the disk is frozen: it writes to the index of the log in the memory. So the
 * service has two connections, each in a thread of its own (`store-thread.ts`): one reads, and one writes, where a slow disk
 * delays only the next commit.
 *
 * WAL lets readers continue beside a writer. synchronous=FULL syncs the log at each commit: acknowledged data survive a
 * killed process and a power cut. All waiting writes share one commit, and so one sync.
 */
export class Database {
  readonly soundness: Soundness;
  readonly #db: Libsql.Database;
  readonly #statements = new Map<string, Libsql.Statement>();
  #waiting: Write[] = [];
  #closed = false;

  private constructor(
    file: string,
    private readonly clock: Clock,
    timeout: number,
  ) {
    this.soundness = new Soundness(file);
    this.#db = connect(file, timeout);
  }

  /** Opens a connection to a file whose schema is up to date; SQLite refuses all writes on it. */
  static toRead(file: string, clock: Clock): Database {
    const opened = new Database(file, clock, READER_TIMEOUT_MS);
    opened.exec('PRAGMA query_only = ON');
    return opened;
  }

  /** Opens a connection that also writes, and may block its thread; creates the file if it is missing. */
  static toWrite(file: string, clock: Clock): Database {
    return new Database(file, clock, WRITER_TIMEOUT_MS);
  }

  /** The first row of a statement. `Row` is the type of its rows. */
  get<Row>(sql: string, ...values: readonly Value[]): Row | undefined {
    const row = this.#prepared(sql).get(values) as (Row & { _metadata?: unknown }) | undefined;
    if (row) delete row._metadata; // libsql adds it.
    return row;
  }

  /** All rows of a statement: of its text with the values, or of both as one. */
  all<Row>(statement: string | Statement, ...values: readonly Value[]): Row[] {
    if (typeof statement !== 'string') return this.all(statement.sql, ...statement.values);
    return this.#prepared(statement).all(values) as Row[];
  }

  /** The rows as lists of the columns' values, which take half as long to read as objects. */
  lists<Row extends readonly Value[]>({ sql, values }: Statement): Row[] {
    return this.#prepared(sql, true).all(values) as unknown as Row[];
  }

  /** Runs a statement; returns the number of rows changed. */
  run(sql: string, ...values: readonly Value[]): number {
    return this.#prepared(sql).run(values).changes;
  }

  /** The statement of a text, prepared at its first use; one that reads lists is another statement. */
  #prepared(sql: string, asLists = false): Libsql.Statement {
    const name = asLists ? `lists of ${sql}` : sql;
    const known = this.#statements.get(name);
    if (known) return known;
    const made = asLists ? this.#db.prepare(sql).raw() : this.#db.prepare(sql);
    this.#statements.set(name, made);
    return made;
  }

  /** Runs statements that return nothing, outside a transaction. */
  exec(sql: string): void {
    this.#db.exec(sql);
  }

  /** From now on, refuses writes while the file at the path is not the one that was opened. */
  guard(): void {
    this.get('SELECT 1 FROM sqlite_schema'); // Opens the log.
    this.soundness.watch();
  }

  /** Reads the whole file; returns its first damage, or null. Takes some seconds per GB. */
  check(): string | null {
    const [found] = this.#db.prepare('PRAGMA quick_check(1)').raw().all() as string[][];
    return found?.[0] === 'ok' ? null : String(found?.[0]).replace(/\s+/g, ' ');
  }

  /** Runs reads. Rejects with `StoreUnavailable` if the file cannot be read now. */
  async read<T>(run: () => T): Promise<T> {
    const deadline = this.clock.monotonic() + MAX_WAIT_MS;
    for (;;) {
      this.#refuseClosed();
      try {
        return run();
      } catch (error) {
        if (meaningOf(error) !== 'busy' || this.clock.monotonic() >= deadline) throw this.soundness.told(error);
      }
      await new Promise<void>((resolve) => this.clock.after(RETRY_MS, resolve));
    }
  }

  /**
   * Runs `run` within the next transaction, which it shares with all other waiting writes. An error of `run` undoes
   * only its own write and rejects; a transaction that fails undoes and rejects all of them.
   */
  write<T>(run: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const waiting = this.#waiting.push({ run, resolve: (result) => resolve(result as T), reject });
      if (waiting === 1) setImmediate(() => this.#commit()); // Together with the other writes of this turn of the thread.
    });
  }

  /** Closes after the pending writes, and merges the log into the file. Idempotent. */
  close(): void {
    this.#commit();
    if (this.#closed) return;
    this.#closed = true;
    if (this.soundness.isUnsound()) return; // Closing would write to a file that may have to be restored.
    try {
      this.#db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    } catch {
      // The log stays, and the next process that opens the file reads it.
    }
    this.#db.close();
  }

  #commit(): void {
    const writes = this.#waiting;
    this.#waiting = [];
    if (writes.length === 0) return;
    try {
      this.#refuseClosed();
      this.soundness.refuse();
      for (const answer of this.#transaction(writes)) answer();
    } catch (error) {
      const reason = this.soundness.told(error);
      for (const { reject } of writes) reject(reason);
    }
  }

  /**
   * IMMEDIATE takes the lock first: no later statement can find the file busy. Returns the functions that settle each
   * write.
   */
  #transaction(writes: readonly Write[]): (() => void)[] {
    this.run('BEGIN IMMEDIATE');
    try {
      const [only, ...others] = writes;
      const answers = only && others.length === 0 ? [answerOf(only)] : writes.map((write) => this.#attempt(write));
      this.run('COMMIT');
      return answers;
    } catch (error) {
      if (this.#db.inTransaction) this.#db.exec('ROLLBACK');
      throw error;
    }
  }

  /** Runs one of several writes, within a savepoint. Throws if SQLite has rolled back the whole transaction. */
  #attempt({ run, resolve, reject }: Write): () => void {
    this.run('SAVEPOINT one');
    try {
      const answer = answerOf({ run, resolve });
      this.run('RELEASE one');
      return answer;
    } catch (error) {
      if (!this.#db.inTransaction) throw error;
      this.#db.exec('ROLLBACK TO one; RELEASE one');
      const reason = this.soundness.told(error);
      return () => reject(reason);
    }
  }

  #refuseClosed(): void {
    if (this.#closed) throw new StoreUnavailable('the store is closed');
  }
}
