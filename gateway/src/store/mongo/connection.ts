import type { Clock } from '@device-insights/fanout/platform/clock';
import { type ClientSession, type Connection, createConnection, mongo } from 'mongoose';
import { StoreUnavailable } from '../store.js';
import { told } from './failures.js';
import { Transactions } from './transactions.js';

/**
 * Maximum wait of a call for a primary, and for an answer, ms, unless the URI sets `socketTimeoutMS`: an insight must be
 * readable within 5 s of its `ts`.
 */
const LIMIT_MS = 3000;
/** The database if the URI names none. */
const DATABASE = 'device-insights';

/** One client of a MongoDB replica set. Writes are acknowledged by a majority, reads go to the primary. */
export class MongoConnection {
  /** UUIDs of the collections by name, as they were at the start. */
  #collections: ReadonlyMap<string, string> | null = null;
  /** The damage of the data, once detected; kept until the connection is opened again. */
  #damage: string | null = null;
  #closed = false;

  private constructor(
    readonly connection: Connection,
    private readonly commits: Transactions,
    private readonly others: Transactions,
  ) {}

  /**
   * Connects. Rejects with `StoreUnavailable` if no server answers, and with another error if the server has no
   * transactions. The driver repeats a read or a safe write once.
   */
  static async open(uri: string, clock: Clock): Promise<MongoConnection> {
    const limitMs = new mongo.MongoClient(uri).options.socketTimeoutMS || LIMIT_MS;
    const connection = createConnection(uri, {
      ...(/^mongodb(\+srv)?:\/\/[^/]+\/[^?]/.test(uri) ? {} : { dbName: DATABASE }),
      autoCreate: false,
      autoIndex: false,
      bufferCommands: false,
      writeConcern: { w: 'majority' },
      readPreference: 'primary',
      serverSelectionTimeoutMS: limitMs,
      waitQueueTimeoutMS: limitMs,
      connectTimeoutMS: limitMs,
      socketTimeoutMS: limitMs,
    });
    try {
      await connection.asPromise();
      await refuseStandalone(connection);
      const transactions = async () => new Transactions(await connection.startSession(), clock, limitMs);
      return new MongoConnection(connection, await transactions(), await transactions());
    } catch (error) {
      await connection.close();
      throw told(error);
    }
  }

  /** Runs calls; the driver's errors become `StoreUnavailable` or `StoreRefused` if they have that meaning. */
  async run<T>(calls: () => Promise<T>): Promise<T> {
    if (this.#closed) throw new StoreUnavailable('the store is closed');
    if (this.#damage) throw new StoreUnavailable(this.#damage);
    try {
      return await calls();
    } catch (error) {
      throw told(error);
    }
  }

  /** Remembers these collections, so that `inspect` recognizes them. */
  async guard(names: readonly string[]): Promise<void> {
    const found = await this.run(() => collectionsOf(this.connection));
    this.#collections = new Map([...found].filter(([name]) => names.includes(name)));
  }

  /**
   * Rejects with `StoreUnavailable` if a collection was dropped or replaced, and lets every later call do so: the
   * server silently creates a missing collection again, without its indexes, and would report lost data as not
   * existing.
   */
  async inspect(): Promise<void> {
    const found = await this.run(() => collectionsOf(this.connection));
    for (const [name, uuid] of this.#collections ?? [])
      if (found.get(name) !== uuid)
        this.#damage ??= `the collection ${name} was dropped or replaced: stop all gateways, restore the collection, and start them again`;
    if (this.#damage) throw new StoreUnavailable(this.#damage);
  }

  /** Runs calls as one transaction, after earlier ones; repeats it if another writer conflicted. */
  transaction<T>(calls: (session: ClientSession) => Promise<T>): Promise<T> {
    return this.run(() => this.others.run(calls));
  }

  /** The same for a commit of insights, which does not wait for other transactions. */
  commit<T>(calls: (session: ClientSession) => Promise<T>): Promise<T> {
    return this.run(() => this.commits.run(calls));
  }

  /** UUID of the server session of all commits. */
  get commitSession(): string | undefined {
    return this.commits.id;
  }

  /**
   * Ends the commit that another store has under way on this server session; a store that is alive repeats it.
   */
  async endCommitOf(commitSession: string): Promise<void> {
    if (commitSession === this.commitSession) return;
    await this.connection.db?.command({ killSessions: [{ id: new mongo.UUID(commitSession) }] });
  }

  /** Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.connection.close();
  }
}

/** Whether a document is added; false if the unique index over exactly these fields refuses it. */
export async function isAdded(adding: Promise<unknown>, ...fields: readonly string[]): Promise<boolean> {
  try {
    await adding;
    return true;
  } catch (error) {
    if (isDuplicate(error) && Object.keys(error.keyPattern ?? {}).join() === fields.join()) return false;
    throw error;
  }
}

/** Whether a write was refused by a unique index. */
export function isDuplicate(error: unknown): error is mongo.MongoServerError {
  return error instanceof mongo.MongoServerError && error.code === 11000;
}

/** Whether the server gave an operation up because of its `maxTimeMS`. */
export function isTimeLimit(error: unknown): boolean {
  return error instanceof mongo.MongoServerError && error.code === 50;
}

async function collectionsOf({ db }: Connection): Promise<Map<string, string>> {
  const found = (await db?.listCollections<mongo.CollectionInfo>({ type: 'collection' }).toArray()) ?? [];
  return new Map(found.map(({ name, info }) => [name, String(info?.uuid)]));
}

async function refuseStandalone(connection: Connection): Promise<void> {
  const hello = await connection.db?.admin().command({ hello: 1 });
  if (hello && hasTransactions(hello)) return;
  throw new Error(
    'MONGODB_URI names a stand-alone server, which has no transactions: start mongod with --replSet rs0 and run ' +
      'rs.initiate() once (one node is enough)',
  );
}

/**
 * Whether a server that answers `hello` like this has transactions: a member of a replica set, or a router (`mongos`).
 */
export function hasTransactions(hello: { setName?: unknown; msg?: unknown }): boolean {
  return hello.setName !== undefined || hello.msg === 'isdbgrid';
}
