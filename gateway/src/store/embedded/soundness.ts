import { execFile } from 'node:child_process';
import { statfsSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Clock } from '@device-insights/fanout/process/clock';
import { StoreUnavailable } from '../store.js';

const EXAMINATION = fileURLToPath(new URL('./examination.js', import.meta.url));
export const WHAT_TO_DO = 'stop the service, restore the data directory from a backup, and start it again';
/** Shortest and longest time between two examinations of a suspicion, ms: each may read much. */
const FIRST_PAUSE_MS = 5_000;
const LAST_PAUSE_MS = 300_000;
/** Interval at which the disk space is checked during an examination, ms. */
const SPACE_MS = 1000;

const STOPS: ReadonlySet<unknown> = new Set(['SIGTERM', 'SIGINT', 'SIGHUP']);

const NO_SPACE = 'its log, which grows meanwhile, took more disk space than it left free';

const execute = promisify(execFile);

/**
 * What is known of the soundness of a file. SQLite reports a disk that fails for a moment as damage of the file. So
 * what a call reports is only a suspicion, which an examination confirms or removes. Until then nothing is written.
 */
export class Soundness {
  readonly #file: string;
  readonly #clock: Clock;
  /** Certain damage; kept until the file is opened again. */
  #damage: string | null = null;
  /** Replaced each time that a call reports damage. */
  #suspicion: { readonly why: string } | null = null;
  /** Why the last examination came to no result. */
  #obstacle: string | null = null;
  #examines = false;
  #pause = FIRST_PAUSE_MS;
  #next = Number.NEGATIVE_INFINITY;
  readonly #closing = new AbortController();

  constructor(file: string, clock: Clock) {
    this.#file = file;
    this.#clock = clock;
  }

  /** Whether there is neither damage nor a suspicion. */
  get isSound(): boolean {
    return this.#damage === null && this.#suspicion === null;
  }

  /** Throws `StoreUnavailable` if there is damage or a suspicion. */
  refuseUnsound(): void {
    if (this.#damage) throw new StoreUnavailable(`${this.#file} is damaged (${this.#damage}): ${WHAT_TO_DO}`);
    if (!this.#suspicion) return;
    const state = this.#obstacle ? `could not be examined (${this.#obstacle}), and will be again` : 'is being examined';
    throw new StoreUnavailable(
      `${this.#file} cannot be read (${this.#suspicion.why}): check its disk; the file ${state}: do not restore a ` +
        'backup unless it is found to be damaged',
    );
  }

  condemn(damage: string): void {
    this.#damage ??= damage;
  }

  suspect(why: string): void {
    if (this.#suspicion === null) this.#obstacle = null;
    this.#suspicion = { why };
  }

  /** Drops the suspicion, for an examination that another thread had made. */
  trust(): void {
    this.#suspicion = null;
  }

  /**
   * Has the whole file read, in another process; a suspicion costs a longer examination, which also compares the
   * indexes. A suspicion that is older than the examination ends with it. Meanwhile what is written stays in the log,
   * whose space cannot be used again: without a suspicion, it rather ends without a result than fill the disk. Rejects
   * with `StoreUnavailable` if the file is damaged.
   */
  async examine(): Promise<void> {
    const suspicion = this.#suspicion;
    const space = new AbortController();
    const watch = this.#clock.every(SPACE_MS, () => {
      if (suspicion === null && fillsDisk(`${this.#file}-wal`)) space.abort();
    });
    const signal = AbortSignal.any([this.#closing.signal, space.signal]);
    const check = suspicion ? 'integrity_check' : 'quick_check';
    try {
      const found = await execute(process.execPath, [EXAMINATION, this.#file, check], {
        signal,
        killSignal: 'SIGKILL',
      });
      if (found.stdout) this.condemn(found.stdout);
      this.#obstacle = null;
    } catch (cause) {
      if (this.#closing.signal.aborted || wasStopped(cause)) return;
      this.#obstacle = space.signal.aborted ? NO_SPACE : reasonOf(cause);
      throw new Error(`${this.#file} could not be examined: ${this.#obstacle}`, { cause });
    } finally {
      watch.cancel();
    }
    if (this.#suspicion === suspicion) this.#suspicion = null;
    this.refuseUnsound();
  }

  /** Examines the file if there is a suspicion, and it is time for an examination. Called often; never rejects. */
  async examineSuspicion(): Promise<void> {
    const now = this.#clock.monotonic();
    if (this.#suspicion === null || this.#damage !== null || this.#examines || now < this.#next) return;
    const isNew = now - this.#next > LAST_PAUSE_MS;
    this.#pause = isNew ? FIRST_PAUSE_MS : Math.min(2 * this.#pause, LAST_PAUSE_MS);
    this.#examines = true;
    await this.examine().catch(() => {}); // Its result is in the fields.
    this.#examines = false;
    this.#next = this.#clock.monotonic() + this.#pause;
  }

  /** Ends the examination that runs. */
  close(): void {
    this.#closing.abort();
  }
}

/** Whether a log takes more space than is left on its disk, if that can be told. */
function fillsDisk(log: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(log);
    return statSync(log).size > bavail * bsize;
  } catch {
    return false;
  }
}

/** Whether the service is being stopped: a supervisor, or Ctrl-C, sends its signal to all processes of a service. */
function wasStopped(cause: unknown): boolean {
  return cause instanceof Error && 'signal' in cause && STOPS.has(cause.signal);
}

/** Why an examination came to no result, in the words of its process, unless it was killed. */
function reasonOf(cause: unknown): string {
  const said = cause instanceof Error && 'stderr' in cause ? String(cause.stderr) : '';
  return said === '' ? String(cause) : said;
}
