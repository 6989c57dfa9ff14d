import { StoreUnavailable } from '../store.js';
import { meaningOf, told } from './failures.js';
import { OwnFiles } from './own-files.js';

/** What to do about a damaged file. */
export const WHAT_TO_DO = 'stop the service, restore the data directory from a backup, and start it again';

/** What a thread knows of the state of the database's file, which must not be written when it is damaged or elsewhere. */
export class Soundness {
  readonly #file: string;
  #files: OwnFiles | null = null;
  /** The damage that a call has met, or a fault of the disk that looks like it; kept until the file is opened again. */
  #damage: string | null = null;

  constructor(file: string) {
    this.#file = file;
  }

  /** From now on, notices if the file at the path is not the one that is open now; call it once the log is open too. */
  watch(): void {
    this.#files = new OwnFiles(this.#file);
  }

  /** Throws `StoreUnavailable` if the file is damaged, was cut, or is not in its place. */
  refuse(): void {
    const moved = this.#files?.moved();
    if (moved) throw new StoreUnavailable(`${moved} was moved, deleted or replaced: put it back, or ${WHAT_TO_DO}`);
    if (this.#files?.wasCut()) this.condemn('it has been cut short');
    if (this.#damage !== null) throw this.#unsound(this.#damage);
  }

  /** From now on, refuses. */
  condemn(damage: string): void {
    this.#damage ??= damage;
  }

  /** Whether the file is damaged, or is no longer in its place. */
  isUnsound(): boolean {
    return this.#damage !== null || (this.#files?.moved() ?? null) !== null;
  }

  /** The error that the caller gets for one of SQLite; damage is remembered. */
  told(error: unknown): unknown {
    if (!(error instanceof Error) || meaningOf(error) !== 'damaged') return told(error);
    this.condemn(error.message);
    return this.#unsound(error.message, error);
  }

  #unsound(damage: string, cause?: Error): StoreUnavailable {
    const what =
      `${this.#file} is damaged, or its disk cannot be read (${damage}), and is not written any more: check the disk and ` +
      `start the service again, which checks the whole file; if it finds damage, ${WHAT_TO_DO}`;
    return new StoreUnavailable(what, { cause });
  }
}
