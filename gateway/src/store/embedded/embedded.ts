import { existsSync, writeFileSync } from 'node:fs';
import { access, constants, mkdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Clock } from '@device-insights/fanout/platform/clock';
import { messageOf } from '@device-insights/fanout/platform/message-of';
import { type Store, StoreUnavailable } from '../store.js';
import { Database } from './database.js';
import { hold } from './hold.js';
import type { Tables } from './kinds.js';
import { assertSchema, makeSchema, OtherSchema } from './schema.js';
import { type Soundness, WHAT_TO_DO } from './soundness.js';
import { type Connection, operationsIn, StoreThread, type ThreadData } from './store-thread.js';
import { tablesOn } from './tables.js';

export const FILE = 'device-insights.db';

type Connect = (data: ThreadData, soundness: Soundness) => Connection;

const inThread: Connect = (data, soundness) => new StoreThread(data, soundness);

/**
 * Opens the store of a service: holds its directory, so that a second service refuses to start. Rejects with `Held` if
 * another process holds it, otherwise as `openEmbeddedStore`.
 */
export async function startEmbeddedStore(directory: string, clock: Clock): Promise<Store> {
  await makeFile(directory, join(directory, FILE));
  const release = hold(directory);
  try {
    const store = await opened(directory, clock, prepareFile);
    return { ...store, close: () => store.close().finally(release) };
  } catch (error) {
    release();
    throw error;
  }
}

/**
 * Opens the store that needs no server: an SQLite file in a directory, which is created if it is missing. Several
 * processes may have it open. Reads the whole file, and rejects if it is damaged; rejects with `OtherSchema` if another
 * version of the service has written it.
 * @param connect where its two connections run; by default each in a thread of its own
 */
export async function openEmbeddedStore(directory: string, clock: Clock, connect = inThread): Promise<Store> {
  await makeFile(directory, join(directory, FILE));
  return opened(directory, clock, prepareFile, connect);
}

/** Opens a store beside its service, for a command: creates nothing, and rejects if it has another schema. */
export async function openExistingStore(directory: string, clock: Clock): Promise<Store> {
  assertEmbeddedStore(directory);
  return opened(directory, clock, refuseOtherSchema);
}

type Prepare = (file: string, clock: Clock) => Promise<void>;

async function opened(directory: string, clock: Clock, prepare: Prepare, connect = inThread): Promise<Store> {
  const file = join(directory, FILE);
  try {
    await prepare(file, clock);
    const db = Database.toRead(file, clock);
    db.guard();
    return storeOn(file, db, connect);
  } catch (error) {
    if (error instanceof OtherSchema) throw error;
    const said = `${FILE} in ${directory} cannot be opened (${messageOf(error)})`;
    if (error instanceof StoreUnavailable) throw new StoreUnavailable(said, { cause: error.cause });
    throw new Error(`${said}: check its disk; if it is damaged, ${WHAT_TO_DO}`, { cause: error });
  }
}

async function refuseOtherSchema(file: string, clock: Clock): Promise<void> {
  const db = Database.toRead(file, clock);
  try {
    await db.read(() => assertSchema(db));
  } finally {
    db.close();
  }
}

/** Throws if a directory has no embedded store, which opening it would create. */
export function assertEmbeddedStore(directory: string): void {
  if (existsSync(join(directory, FILE))) return;
  throw new Error(`there is no ${FILE} in ${directory}: check DATA_DIR; the service creates its store when it starts`);
}

async function prepareFile(file: string, clock: Clock): Promise<void> {
  const db = Database.toWrite(file, clock);
  try {
    await makeSchema(db);
    const damage = await db.read(() => db.check());
    if (damage !== null) throw new Error(`it is damaged: ${damage}`);
  } finally {
    db.close();
  }
}

/**
 * Makes the directory and an empty file, which is a database to SQLite, if they are missing. Only their owner may read
 * them: SQLite gives its other files the permissions of this one. Files of another user, who may have run the service
 * before, are refused here: SQLite's error would tell neither the file nor the reason.
 */
async function makeFile(directory: string, file: string): Promise<void> {
  try {
    await makeDirectory(resolve(directory));
    for (const path of [file, `${file}-wal`, `${file}-shm`]) await assertWritable(path);
    if (!existsSync(file)) writeFileSync(file, '', { flag: 'a', mode: 0o600 });
  } catch (cause) {
    const owner = hasCode(cause, 'EACCES') ? '; it and its files must belong to the user who runs the service' : '';
    throw new Error(`${directory} cannot be the data directory (DATA_DIR): ${messageOf(cause)}${owner}`, { cause });
  }
}

/**
 * Makes a directory and its missing parents. Node's own recursive `mkdir` never ends if the system says ENOENT although
 * the parent exists, as in `/proc` or in a directory that was deleted while in use.
 */
async function makeDirectory(path: string): Promise<void> {
  if (existsSync(path)) return;
  await makeDirectory(dirname(path));
  await mkdir(path, { mode: 0o700 }).catch((error: unknown) => {
    if (!hasCode(error, 'EEXIST')) throw error; // Another process was faster.
  });
}

/** Throws if this user may not read and write a file, or make it if it is missing. */
async function assertWritable(path: string): Promise<void> {
  await access(path, constants.R_OK | constants.W_OK).catch((error: unknown) => {
    if (!hasCode(error, 'ENOENT')) throw error;
    return access(dirname(path), constants.W_OK);
  });
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

/**
 * Reads and writes in threads. The connection of this thread reads nothing: it keeps the log from being deleted when the
 * threads end, because a start on a full disk could not make it.
 */
function storeOn(file: string, db: Database, connect: Connect): Store {
  const reader = connect({ file, writes: false }, db.soundness);
  const writer = connect({ file, writes: true }, db.soundness);
  const tables = operationsIn(Object.keys(tablesOn(db)), reader, writer);
  return {
    ...tables,
    changeDeviceModel: modelChange(tables),
    async probe(at) {
      db.soundness.refuse();
      await tables.writeProbe(at);
      if ((await tables.readProbe()) === null) throw new Error('the embedded store lost a write');
    },
    async close() {
      await writer.close();
      await reader.close();
      db.close();
    },
  };
}

/** Reads, changes and replaces a model; repeats this if another writer was faster. */
function modelChange(tables: Pick<Tables, 'deviceModel' | 'replaceDeviceModel'>): Store['changeDeviceModel'] {
  return async (id, change) => {
    for (;;) {
      const model = await tables.deviceModel(id);
      if (!model) return null;
      const changed = change(model);
      if (await tables.replaceDeviceModel(model, changed)) return changed;
    }
  };
}
