import { existsSync, statSync } from 'node:fs';
import { chmod, copyFile, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { connect } from './connection.js';
import { assertEmbeddedStore, FILE } from './embedded.js';
import { OtherSchema, VERSION } from './schema.js';

/** A file that is not a backup, or a place in which no backup can be written; the message says what to do. */
class BackupFault extends Error {
  override readonly name = 'BackupFault';
}

/** How long to wait for the lock of another connection, ms. */
const LOCK_MS = 10_000;

/**
 * Copies an embedded store into a new file, as it is at one moment. A service may run on the store: it goes on writing
 * meanwhile. The file appears under its name when it is complete, checked and on disk. Blocks its thread.
 */
export async function backUp(directory: string, file: string): Promise<void> {
  assertEmbeddedStore(directory);
  refuseFolder(file);
  const source = join(directory, FILE);
  await asWhole(file, (partial) => {
    const db = connect(source, LOCK_MS);
    try {
      db.prepare('VACUUM INTO ?').run([partial]);
    } finally {
      db.close();
    }
  });
}

/** Puts a backup into a data directory that has no store. Rejects and changes nothing if it is damaged or newer than this program. */
export async function restore(directory: string, file: string): Promise<void> {
  check(file);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const target = join(directory, FILE);
  for (const path of [target, `${target}-wal`, `${target}-shm`]) refuseExisting(path);
  await asWhole(target, (partial) => copyFile(file, partial));
}

/** Makes a file under another name, and gives it its own when it is known to be sound and on disk. Never replaces one. */
async function asWhole(file: string, make: (partial: string) => void | Promise<void>): Promise<void> {
  refuseExisting(file);
  const partial = `${file}.partial-${process.pid}`;
  try {
    const made = await open(partial, 'wx', 0o600).catch((cause: unknown) => {
      throw new BackupFault(`${file} cannot be made: make its folder first, with the right to write there (${cause})`);
    });
    await made.close(); // From the start, only its owner may read it.
    await make(partial);
    await chmod(partial, 0o600);
    check(partial);
    await sync(partial);
    refuseExisting(file);
    await rename(partial, file);
    await sync(dirname(file));
  } finally {
    await rm(partial, { force: true }).catch(() => undefined); // The first error says more.
  }
}

function refuseExisting(path: string): void {
  if (existsSync(path))
    throw new BackupFault(
      `${path} exists, and is never replaced: choose another, or stop what uses it and move it away`,
    );
}

function refuseFolder(path: string): void {
  const isFolder = existsSync(path) && statSync(path).isDirectory();
  if (path !== '' && !isFolder) return;
  throw new BackupFault(`${JSON.stringify(path)} names no file: give the path of one, such as backup.db`);
}

/** Throws `BackupFault` where a file is not the whole of an embedded store that this program can read. */
function check(file: string): void {
  refuseFolder(file);
  if (!existsSync(file)) throw new BackupFault(`there is no file ${file}`);
  const found = stateOf(file);
  if (found === null) throw new BackupFault(`${file} is damaged, or no backup of an embedded store: take another one`);
  if (found !== VERSION) throw new BackupFault(`${file}: ${new OtherSchema(found).message}`);
}

/** Version of the schema; null where the file is not sound. */
function stateOf(file: string): number | null {
  try {
    const db = connect(file, LOCK_MS);
    try {
      const [checked] = db.prepare('PRAGMA quick_check(1)').all() as { quick_check: string }[];
      db.prepare('SELECT id FROM accounts LIMIT 1').get();
      const version = db.prepare('PRAGMA user_version').get() as { user_version: number };
      return checked?.quick_check === 'ok' ? version.user_version : null;
    } finally {
      db.close();
    }
  } catch {
    return null;
  }
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
