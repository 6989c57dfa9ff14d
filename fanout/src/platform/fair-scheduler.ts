/** Work of one account that is done in small steps. */
export interface Worker {
  readonly account: string;
  /** Does one step, of at most a fraction of a millisecond; false if nothing is left to do until the worker is added again. */
  step(): boolean;
  /** Whether the worker waits for its turn; set by `FairScheduler`. */
  isWaiting: boolean;
}

/** The condition for each step; while it does not accept, no worker is served. */
export interface Gate {
  readonly accepting: boolean;
  /** Calls back, once, when `accepting` is true again. */
  onRelief(run: () => void): void;
}

/** Time for one account before the next one's turn, ms. */
const SLICE_MS = 1;
/** Time for workers before the event loop may do other work, ms. */
export const TURN_MS = 3;

const OPEN: Gate = { accepting: true, onRelief: (run) => run() };

/**
 * Shares the event loop among accounts, round robin by time; within an account its workers are served in turn. So the
 * work of one account delays that of another by 1 ms for each account that has work, however much it is.
 */
export class FairScheduler {
  /** The workers that wait, by account; the account whose turn is next comes first. */
  readonly #queues = new Map<string, Worker[]>();
  #scheduled = false;
  #isHeld = false;

  constructor(readonly gate: Gate = OPEN) {}

  /** Whether no worker waits. */
  get isIdle(): boolean {
    return this.#queues.size === 0;
  }

  /** Asks for turns, until the worker has nothing more to do. */
  add(worker: Worker): void {
    this.#enqueue(worker);
    this.#schedule();
  }

  /** Does a single step in a turn of the account. */
  once(account: string, step: () => void): void {
    this.add({
      account,
      isWaiting: false,
      step: () => {
        step();
        return false;
      },
    });
  }

  remove(worker: Worker): void {
    worker.isWaiting = false;
  }

  #enqueue(worker: Worker): void {
    if (worker.isWaiting) return;
    worker.isWaiting = true;
    const queue = this.#queues.get(worker.account);
    if (queue) queue.push(worker);
    else this.#queues.set(worker.account, [worker]);
  }

  #schedule(): void {
    if (this.#scheduled || this.#isHeld || this.isIdle) return;
    this.#scheduled = true;
    setImmediate(this.#turn);
  }

  readonly #turn = (): void => {
    this.#scheduled = false;
    const end = performance.now() + TURN_MS;
    for (const [account, queue] of this.#queues) {
      if (!this.gate.accepting || performance.now() >= end) break;
      this.#slice(queue);
      this.#queues.delete(account);
      if (queue.length > 0) this.#queues.set(account, queue); // Behind the others.
    }
    if (this.gate.accepting) this.#schedule();
    else this.#hold();
  };

  /** Serves the workers of one account in turn, and takes them from its queue, all at once: it may be long. */
  #slice(queue: Worker[]): void {
    const end = performance.now() + SLICE_MS;
    let taken = 0;
    while (taken < queue.length && (taken === 0 || (this.gate.accepting && performance.now() < end))) {
      const worker = queue[taken++];
      if (!worker?.isWaiting) continue;
      worker.isWaiting = false;
      if (this.#serve(worker, end)) this.#enqueue(worker);
    }
    queue.splice(0, taken);
  }

  /** True if the worker has more to do. */
  #serve(worker: Worker, end: number): boolean {
    while (worker.step()) if (!this.gate.accepting || performance.now() >= end) return true;
    return false;
  }

  #hold(): void {
    this.#isHeld = true;
    this.gate.onRelief(() => {
      this.#isHeld = false;
      this.#schedule();
    });
  }
}
