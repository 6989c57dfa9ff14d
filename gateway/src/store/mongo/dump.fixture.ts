import { type Connection, createConnection } from 'mongoose';

/** Every document of a database, by collection: what mongodump writes, and mongorestore reads. */
type Dump = ReadonlyMap<string, readonly Record<string, unknown>[]>;

/** Reads a database while others write to it. */
export function dump(uri: string): Promise<Dump> {
  return connected(uri, async ({ db }) => {
    const collections = (await db?.listCollections().toArray()) ?? [];
    const names = collections.map(({ name }) => name);
    const documents = await Promise.all(names.map((name) => db?.collection(name).find().toArray() ?? []));
    return new Map(names.map((name, i) => [name, documents[i] ?? []]));
  });
}

/** Writes what `dump` read into an empty database. */
export function restore(uri: string, dumped: Dump): Promise<void> {
  return connected(uri, async ({ db }) => {
    for (const [name, documents] of dumped)
      if (documents.length > 0) await db?.collection(name).insertMany([...documents]);
  });
}

async function connected<Result>(uri: string, run: (connection: Connection) => Promise<Result>): Promise<Result> {
  const connection = await createConnection(uri).asPromise();
  try {
    return await run(connection);
  } finally {
    await connection.close();
  }
}
