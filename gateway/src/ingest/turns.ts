import type { Publisher } from '../publisher/publisher.js';

/** Work that is done in small steps. */
export interface Worker {
  /** Does one step; false if there is nothing to do until the worker is added again. */
  step(): boolean;
  /** Whether the worker waits for its turn; set by `Turns`. */
  isWaiting: boolean;
}

/** Time that one worker may use before the next one's turn, ms. */
const SLICE_MS = 1;
/** Shortest time from one round of the event loop with messages to the next, while no reading waits to be stored, ms. */
const ROUND_MS = 1;
/** Never changes: waiting for it is a rest. */
const UNCHANGED = new Int32Array(new SharedArrayBuffer(4));
/** Time for which the event loop is used before other work may run, ms. */
const TURN_MS = 3;

/**
 * Shares the event loop among the sessions, round robin by time, so that a device that floods or back-fills does not
 * delay the others. No session works while the publisher cannot accept its results.
 */
export class Turns {
  #queue: Worker[] = [];
  /** When the time outside the turns is used up, ms; null if none has been used since the last turn. */
  #end: number | null = null;
  #scheduled = false;
  #waiting = false;
  #isRound = false;
  #roundEnded = Number.NEGATIVE_INFINITY;

  constructor(readonly publisher: Pick<Publisher, 'accepting' | 'onRelief' | 'queued'>) {}

  /** Asks for turns, until the worker has nothing more to do. */
  add(worker: Worker): void {
    this.#enqueue(worker);
    this.#schedule();
  }

  remove(worker: Worker): void {
    worker.isWaiting = false;
  }

  /**
   * Whether a step may be done at once. If not, the worker must be added: the next turn gives new time. Most rounds of
   * the event loop need no turn, and so nothing at their end.
   */
  hasTime(): boolean {
    if (!this.#isRound) {
      this.#isRound = true;
      setImmediate(this.#endRound);
    }
    if (this.#queue.length > 0 || !this.publisher.accepting) return false;
    const now = performance.now();
    this.#end ??= now + TURN_MS;
    return now < this.#end;
  }

  /**
   * Messages of many devices come one by one, and waking the process costs as much as handling one. So it wakes once a
   * millisecond for all of them, unless somebody waits for a reading.
   */
  readonly #endRound = (): void => {
    this.#isRound = false;
    const rest = this.#roundEnded + ROUND_MS - performance.now();
    if (rest > 0 && this.publisher.queued === 0) Atomics.wait(UNCHANGED, 0, 0, rest);
    this.#roundEnded = performance.now();
  };

  #enqueue(worker: Worker): void {
    if (worker.isWaiting) return;
    worker.isWaiting = true;
    this.#queue.push(worker);
  }

  #schedule(): void {
    if (this.#scheduled || this.#waiting || this.#queue.length === 0) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#end = null;
      this.#turn();
      this.#schedule();
    });
  }

  #turn(): void {
    const end = performance.now() + TURN_MS;
    let done = 0;
    for (const worker of this.#queue) {
      if (!this.publisher.accepting || performance.now() >= end) break;
      done += 1;
      if (!worker.isWaiting) continue;
      worker.isWaiting = false;
      if (this.#slice(worker)) this.#enqueue(worker);
    }
    this.#queue.splice(0, done);
    if (!this.publisher.accepting) this.#wait();
  }

  /** True if the worker has more to do. */
  #slice(worker: Worker): boolean {
    const end = performance.now() + SLICE_MS;
    while (worker.step()) if (!this.publisher.accepting || performance.now() >= end) return true;
    return false;
  }

  #wait(): void {
    this.#waiting = true;
    this.publisher.onRelief(() => {
      this.#waiting = false;
      this.#schedule();
    });
  }
}
