import { writeSync } from 'node:fs';

/** Bytes of lines that may wait; beyond, the oldest are lost. */
const MOST_WAITING = 1024 * 1024;
/** Interval at which waiting lines are tried again, ms. */
const RETRY_MS = 10;
/** The end of the process waits for a slow reader, but not for one that has taken nothing for so long, ms. */
const STALLED_MS = 2000;

/**
 * The standard error of a process whose work must not depend on its log: lines that cannot be written now, because the
 * disk is full or nobody reads the pipe, wait in memory. Only a terminal can hold the process: its user is there. With pino's
 * own destination (sonic-boom 4.2, synchronous) the tests of a full disk and of the count of lost lines fail.
 */
export class LogOutput {
  readonly #waiting: Buffer[] = [];
  #bytes = 0;
  #lost = 0;
  #told = 0;
  #retry: NodeJS.Timeout | undefined;

  /** @param tell called with the number of lines lost since the start, once lines can be written again */
  constructor(private readonly tell: (lost: number) => void) {
    void process.stderr; // Node opens it here, and so that a full pipe or socket answers EAGAIN instead of blocking.
    process.on('exit', () => this.#writeBeforeEnd());
  }

  /** Writes a line now or later; never throws. */
  write(line: string): void {
    const bytes = Buffer.from(line);
    this.#waiting.push(bytes);
    this.#bytes += bytes.length;
    while (this.#bytes > MOST_WAITING && this.#waiting.length > 1) this.#loseOldest();
    if (!this.#retry) this.#writeAndRetry();
  }

  /** Except for the first: a part of it may be written. */
  #loseOldest(): void {
    const [oldest] = this.#waiting.splice(1, 1);
    this.#bytes -= oldest?.length ?? 0;
    this.#lost += 1;
  }

  #writeAndRetry(): void {
    const isDone = this.#write() === undefined;
    this.#retry = isDone ? undefined : setTimeout(() => this.#writeAndRetry(), RETRY_MS).unref();
    if (!isDone || this.#lost === this.#told) return;
    this.#told = this.#lost;
    this.tell(this.#lost);
  }

  /** The process is ending: there is no event loop any more. */
  #writeBeforeEnd(): void {
    const nothing = new Int32Array(new SharedArrayBuffer(4));
    let taken = { bytes: this.#bytes, at: performance.now() };
    while (this.#write() === 'EAGAIN' && performance.now() - taken.at < STALLED_MS) {
      if (this.#bytes < taken.bytes) taken = { bytes: this.#bytes, at: performance.now() };
      Atomics.wait(nothing, 0, 0, RETRY_MS);
    }
  }

  /** Writes what waits, as far as possible; returns the code of the error that prevented the rest. */
  #write(): unknown {
    for (let line = this.#waiting[0]; line; line = this.#waiting[0]) {
      try {
        const written = writeSync(2, line);
        this.#bytes -= written;
        if (written < line.length) this.#waiting[0] = line.subarray(written);
        else this.#waiting.shift();
      } catch (error) {
        return (error as NodeJS.ErrnoException).code ?? 'unknown';
      }
    }
    return undefined;
  }
}
