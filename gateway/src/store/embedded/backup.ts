import { existsSync, lstatSync, statSync } from 'node:fs';
import { chmod, copyFile, mkdir, open, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf } from '@device-insights/fanout/platform/message-of';
import { connect } from './connection.js';
import { assertEmbeddedStore, FILE } from './embedded.js';
import { OtherSchema, VERSION } from './schema.js';
import { WHAT_TO_DO } from './soundness.js';

/** A file that is not a backup, or a place in which no backup can be written; the message says what to do. */
class BackupFault extends Error {
  override readonly name = 'BackupFault';
}

/** How long to wait for the lock of another connection, ms. */
const LOCK_MS = 10_000;
/** A file of the data directory that was made with its last backup. */
export const BACKUP_MARK = 'last-backup';

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
  const mark = join(directory, BACKUP_MARK);
  await rm(mark, { force: true }); // That of another user cannot be written, but removed.
  await writeFile(mark, '', { mode: 0o600 });
}

/** Puts a backup into a data directory that has no store. Rejects and changes nothing if it is damaged or of another version. */
export async function restore(directory: string, file: string): Promise<void> {
  check(file, 'quick_check');
  const made = await mkdir(directory, { recursive: true, mode: 0o700 }).catch((cause: unknown) => {
    throw new BackupFault(`make ${directory} first, as a directory of the user who runs the service (${cause})`);
  });
  try {
    const target = join(directory, FILE);
    for (const path of [target, `${target}-wal`, `${target}-shm`]) refuseExisting(path);
    await asWhole(target, (partial) => copyFile(file, partial));
  } catch (error) {
    if (made) await rm(made, { recursive: true, force: true });
    throw error;
  }
}

/** Reads a whole backup, and compares its indexes with its tables; changes nothing. Rejects if it could not be restored. */
export async function verify(file: string): Promise<void> {
  check(file, 'integrity_check');
}

/** Reads the whole store of a directory, and compares its indexes with its tables, also beside its service. Rejects if it is damaged. */
export async function verifyStore(directory: string): Promise<void> {
  assertEmbeddedStore(directory);
  check(join(directory, FILE), 'integrity_check', WHAT_TO_DO);
}

/** Makes a file under another name, and gives it its own when it is known to be sound and on disk. Never replaces one. */
async function asWhole(file: string, make: (partial: string) => void | Promise<void>): Promise<void> {
  refuseExisting(file);
  await removeLeftovers(dirname(file));
  const partial = `${file}.partial-${process.pid}`;
  try {
    const made = await open(partial, 'wx', 0o600).catch((cause: unknown) => {
      throw new BackupFault(`${file} cannot be made: make its folder first, with the right to write there (${cause})`);
    });
    await made.close(); // From the start, only its owner may read it.
    await make(partial);
    await chmod(partial, 0o600);
    check(partial, 'quick_check');
    await sync(partial);
    refuseExisting(file);
    await rename(partial, file);
    await sync(dirname(file));
  } finally {
    await rm(partial, { force: true }).catch(() => undefined); // The first error says more.
  }
}

/** Removes the incomplete files of commands that were killed. */
async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const pid = /\.partial-(\d+)(-journal|-wal|-shm)?$/.exec(name)?.[1];
    if (pid !== undefined && !isRunning(Number(pid))) await rm(join(folder, name), { force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}

/** Refuses a path that exists, also as a dangling link. */
function refuseExisting(path: string): void {
  try {
    lstatSync(path);
  } catch {
    return;
  }
  throw new BackupFault(`${path} exists, and is never replaced: choose another, or stop what uses it and move it away`);
}

function refuseFolder(path: string): void {
  const isFolder = existsSync(path) && statSync(path).isDirectory();
  if (path !== '' && !isFolder) return;
  throw new BackupFault(`${JSON.stringify(path)} is not the path of a file: give one, such as backup.db`);
}

/** Throws `BackupFault` where a file is not the whole of an embedded store that this program can read. */
function check(file: string, how: 'quick_check' | 'integrity_check', advice = 'use another one'): void {
  refuseFolder(file);
  if (!existsSync(file)) throw new BackupFault(`there is no file ${file}`);
  const { version, damage } = stateOf(file, how);
  if (damage !== null)
    throw new BackupFault(`${file} is damaged, or no backup of an embedded store (${damage}): ${advice}`);
  if (version !== VERSION) throw new BackupFault(`${file}: ${new OtherSchema(version).message}`);
}

/** Version of the schema of a file, and its first damage. */
function stateOf(file: string, how: string): { readonly version: number; readonly damage: string | null } {
  try {
    const db = connect(file, LOCK_MS, 'ro');
    try {
      const [checked] = db.prepare(`PRAGMA ${how}(1)`).raw().all() as string[][];
      db.prepare('SELECT id FROM accounts LIMIT 1').get();
      const { user_version: version } = db.prepare('PRAGMA user_version').get() as { user_version: number };
      return { version, damage: checked?.[0] === 'ok' ? null : String(checked?.[0]).replace(/\s+/g, ' ') };
    } finally {
      db.close();
    }
  } catch (error) {
    return { version: 0, damage: messageOf(error) };
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
