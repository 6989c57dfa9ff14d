import type { Clock, Timer } from './clock.js';
import type { Log } from './log.js';

const SAY_MS = 1000;

/** Counts one kind of fault that strangers can cause at will: it is logged at most once a second, with its number. */
export class Tally {
  /** Number since the process started. */
  total = 0;
  #unsaid = 0;
  #example: object = {};
  readonly #timer: Timer;

  constructor(
    private readonly log: Pick<Log, 'warn'>,
    clock: Clock,
    private readonly text: string,
  ) {
    this.#timer = clock.every(SAY_MS, () => this.#say());
  }

  /** Counts one more; `example` stands in the log for all of that second. */
  add(example: object): void {
    this.total += 1;
    this.#unsaid += 1;
    this.#example = example;
  }

  /** Logs the faults that are not logged yet. */
  close(): void {
    this.#timer.cancel();
    this.#say();
  }

  #say(): void {
    if (this.#unsaid === 0) return;
    this.log.warn({ ...this.#example, times: this.#unsaid }, this.text);
    this.#unsaid = 0;
    this.#example = {};
  }
}
