import { statSync } from 'node:fs';
import { StoreUnavailable } from '../store.js';
import { meaningOf, told } from './failures.js';

/** What to do about a damaged file. */
export const WHAT_TO_DO = 'stop the service, restore the data directory from a backup, and start it again';

/** The known state of the database's file, which must not be written when it is damaged or was moved. */
export class Soundness {
  /** The database and its log, as they were opened; none before that. */
  #files: readonly OwnFile[] = [];
  /** The damage that a call has met, or a fault of the disk that looks like it; kept until the file is opened again. */
  #damage: string | null = null;

  constructor(private readonly file: string) {}

  /** From now on, notices if the file at the path is not the one that is open now; call it once the log is open too. */
  watch(): void {
    this.#files = [seen(this.file), seen(`${this.file}-wal`)];
  }

  /** Throws `StoreUnavailable` if the file is damaged, was cut, or is not in its place. */
  refuse(): void {
    const moved = this.#moved();
    if (moved) throw new StoreUnavailable(`${moved} was moved, deleted or replaced: put it back, or ${WHAT_TO_DO}`);
    if (this.#wasCut()) this.condemn('it has been cut short');
    if (this.#damage !== null) throw this.#unsound(this.#damage);
  }

  /** From now on, refuses. */
  condemn(damage: string): void {
    this.#damage ??= damage;
  }

  /** Whether the file is damaged, or is no longer in its place. */
  isUnsound(): boolean {
    return this.#damage !== null || this.#moved() !== undefined;
  }

  /** The error that the caller gets for one of SQLite; damage is remembered. */
  told(error: unknown): unknown {
    if (!(error instanceof Error) || meaningOf(error) !== 'damaged') return told(error);
    this.condemn(error.message);
    return this.#unsound(error.message, error);
  }

  /** The path whose open file is no longer there: commits would succeed, and be lost. Takes microseconds. */
  #moved(): string | undefined {
    return this.#files.find(({ path, identity }) => seen(path).identity !== identity)?.path;
  }

  /** Whether the database has become shorter, which SQLite never does to it here, and does not notice. */
  #wasCut(): boolean {
    const [file] = this.#files;
    if (!file) return false;
    const { size } = seen(file.path);
    if (size < file.size) return true;
    file.size = size;
    return false;
  }

  #unsound(damage: string, cause?: Error): StoreUnavailable {
    const what =
      `${this.file} is damaged, or its disk cannot be read (${damage}), and is not written any more: check the disk and ` +
      `start the service again, which checks the whole file; if it finds damage, ${WHAT_TO_DO}`;
    return new StoreUnavailable(what, { cause });
  }
}

interface OwnFile {
  readonly path: string;
  /** Device and inode. */
  readonly identity: string | null;
  /** Largest size that it was seen to have, bytes. */
  size: number;
}

function seen(path: string): OwnFile {
  const found = statSync(path, { throwIfNoEntry: false });
  return { path, identity: found ? `${found.dev}:${found.ino}` : null, size: found?.size ?? 0 };
}
