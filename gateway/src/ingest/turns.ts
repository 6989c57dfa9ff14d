import type { Publisher } from '../publisher/publisher.js';

/** Work in small steps. */
export interface Worker {
  /** Does one step; false when there is nothing to do until it is added again. */
  step(): boolean;
}

/** How long one worker goes on before the next one's turn, ms. */
const SLICE_MS = 2;
/** How long the event loop is kept before it may do something else, ms. */
const TURN_MS = 10;

/**
 * Shares the event loop among the sessions: round robin by time, so that a device which floods or back-fills does not
 * keep the others waiting; and nobody works while the publisher cannot take what would come of it.
 */
export class Turns {
  readonly #queue = new Set<Worker>();
  #scheduled = false;
  #waiting = false;

  constructor(readonly publisher: Pick<Publisher, 'accepting' | 'onRelief'>) {}

  /** Asks for turns, until the worker has nothing more to do. */
  add(worker: Worker): void {
    this.#queue.add(worker);
    this.#schedule();
  }

  remove(worker: Worker): void {
    this.#queue.delete(worker);
  }

  #schedule(): void {
    if (this.#scheduled || this.#waiting || this.#queue.size === 0) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#turn();
      this.#schedule();
    });
  }

  #turn(): void {
    const end = performance.now() + TURN_MS;
    for (const worker of this.#queue) {
      if (!this.publisher.accepting || performance.now() >= end) break;
      this.#queue.delete(worker);
      if (this.#slice(worker)) this.#queue.add(worker);
    }
    if (!this.publisher.accepting) this.#wait();
  }

  /** True where the worker has more to do. */
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
