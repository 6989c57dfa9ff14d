import { fstatSync, openSync, readSync, statSync } from 'node:fs';

/** The header of a database file (sqlite.org/fileformat.html, 1.3), bytes. */
const HEAD = 100;
const MAGIC = 'SQLite format 3\0';

/**
 * Descriptors by file. They stay open as long as the process: when a process closes any descriptor of a file, POSIX
 * releases all its locks on that file, and SQLite may hold some longer than its connection is open. A service has one
 * file.
 */
const descriptors = new Map<string, number>();

/**
 * Detects changes that SQLite does not: an open file can be deleted or replaced, and pages in memory outlive those on
 * the disk, so that commits succeed but are lost.
 */
export class FileGuard {
  readonly #descriptor: number;
  readonly #own: readonly { readonly path: string; readonly identity: string | null }[];
  #wasShort = false;

  /** Create it when the file and its log are open. */
  constructor(file: string) {
    this.#descriptor = descriptorOf(file);
    this.#own = [file, `${file}-wal`].map((path) => ({ path, identity: identityOf(path) }));
  }

  /** The path whose open file is no longer there; null if all files are in their place. Takes microseconds. */
  moved(): string | null {
    return this.#own.find(({ path, identity }) => identity !== null && identityOf(path) !== identity)?.path ?? null;
  }

  /** The damage of the file on the disk; null if its header and its length show none. */
  fault(): string | null {
    const head = Buffer.alloc(HEAD);
    readSync(this.#descriptor, head, 0, HEAD, 0);
    if (head.toString('latin1', 0, MAGIC.length) !== MAGIC) return 'its header has been overwritten';
    const short = fstatSync(this.#descriptor).size < pageSizeOf(head) * head.readUInt32BE(28);
    const wasShort = this.#wasShort;
    this.#wasShort = short; // This may be so for a moment: another process may be about to write the last pages.
    return short && wasShort ? 'it has been cut short' : null;
  }
}

function descriptorOf(file: string): number {
  const identity = identityOf(file) ?? '';
  const descriptor = descriptors.get(identity) ?? openSync(file, 'r');
  descriptors.set(identity, descriptor);
  return descriptor;
}

/** Null if the file does not exist. */
function identityOf(path: string): string | null {
  const found = statSync(path, { throwIfNoEntry: false });
  return found ? `${found.dev}:${found.ino}` : null;
}

/** 1 stands for 65,536. */
function pageSizeOf(head: Buffer): number {
  const size = head.readUInt16BE(16);
  return size === 1 ? 65_536 : size;
}
