import { statSync } from 'node:fs';

interface OwnFile {
  readonly path: string;
  /** Device and inode. */
  readonly identity: string | null;
  /** Largest size that it was seen to have, bytes. */
  size: number;
}

/**
 * What SQLite does not notice while a database is open: its file or its log was moved, deleted or replaced, or its file
 * was cut. Commits would succeed then, and be lost.
 */
export class OwnFiles {
  readonly #file: OwnFile;
  readonly #log: OwnFile;

  /** Create it when the database and its log are open. */
  constructor(file: string) {
    this.#file = seen(file);
    this.#log = seen(`${file}-wal`);
  }

  /** The path whose open file is no longer there; null if all are in their place. Takes microseconds. */
  moved(): string | null {
    return [this.#file, this.#log].find(({ path, identity }) => seen(path).identity !== identity)?.path ?? null;
  }

  /** Whether the database has become shorter, which SQLite never does to it here. */
  wasCut(): boolean {
    const { size } = seen(this.#file.path);
    if (size < this.#file.size) return true;
    this.#file.size = size;
    return false;
  }
}

function seen(path: string): OwnFile {
  const found = statSync(path, { throwIfNoEntry: false });
  return { path, identity: found ? `${found.dev}:${found.ino}` : null, size: found?.size ?? 0 };
}
