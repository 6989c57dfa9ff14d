import { StoreRefused, StoreUnavailable } from '../store.js';

/**
 * `refused`: because of its contents; `busy` and `not now`: can be retried; `damaged`: the file is damaged, or its
 * disk failed (SQLite reports EIO as CORRUPT).
 */
type Meaning = 'refused' | 'busy' | 'not now' | 'damaged';

/**
 * SQLite's primary result codes (sqlite.org/rescode.html). Other codes are faults of this program, as ERROR (1),
 * NOTFOUND (12), MISUSE (21) and RANGE (25), or not errors.
 */
const CODES: Readonly<Record<number, Meaning>> = {
  2: 'not now', // INTERNAL
  3: 'not now', // PERM
  4: 'not now', // ABORT
  5: 'busy', // BUSY
  6: 'busy', // LOCKED
  7: 'not now', // NOMEM
  8: 'not now', // READONLY
  9: 'not now', // INTERRUPT
  10: 'not now', // IOERR
  11: 'damaged', // CORRUPT
  13: 'not now', // FULL
  14: 'not now', // CANTOPEN
  15: 'not now', // PROTOCOL
  17: 'not now', // SCHEMA
  18: 'refused', // TOOBIG
  19: 'refused', // CONSTRAINT
  20: 'refused', // MISMATCH
  22: 'not now', // NOLFS
  23: 'not now', // AUTH
  26: 'damaged', // NOTADB
};

/** SQLite says only that there is a "disk I/O error", also where the disk is full, or that it is "unable to open database file". */
const ADVICE: Readonly<Record<number, string>> = {
  10: ': check the disk of the data directory (DATA_DIR) and its free space',
  13: ': free space on the disk of the data directory (DATA_DIR)',
  14: ': check the free space and inodes of the disk (df -i), the rights to the folder, and the limit of open files (ulimit -n)',
};
const DAMAGED = ': check the disk of the data directory (DATA_DIR), and restore it from a backup if it is damaged';

/** The meaning of a call's error; null if it is not from SQLite, or a fault of this program. */
export function meaningOf(error: unknown): Meaning | null {
  return CODES[primaryCodeOf(error) ?? 0] ?? null;
}

/** Null if the error is not from SQLite. */
function primaryCodeOf(error: unknown): number | null {
  if (!(error instanceof Error) || !('rawCode' in error) || typeof error.rawCode !== 'number') return null;
  return error.rawCode & 0xff; // The low byte of an extended code is the primary code.
}

/** The error that the caller gets. */
export function told(error: unknown): unknown {
  const meaning = meaningOf(error);
  if (meaning === null || !(error instanceof Error)) return error;
  if (meaning === 'refused')
    return new StoreRefused(`the embedded store refused the operation: ${error.message}`, { cause: error });
  const advice = meaning === 'damaged' ? DAMAGED : (ADVICE[primaryCodeOf(error) ?? 0] ?? '');
  return new StoreUnavailable(`the embedded store failed: ${error.message}${advice}`, { cause: error });
}
