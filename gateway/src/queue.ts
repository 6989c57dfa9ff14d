/** More tasks wait than allowed. */
export class QueueFull extends Error {
  override readonly name = 'QueueFull';
}

interface Limits {
  /** Tasks that run at once; default: any number. */
  readonly atOnce?: number;
  /** Tasks of one owner that run at once, by the number of all that run; default: any number. */
  readonly each?: (running: number) => number;
  /** Tasks that may wait; default: any number. */
  readonly waiting?: number;
}

/** The tasks of one owner. */
interface Line {
  running: number;
  /** Starts those that wait, in their order. */
  readonly waiting: Set<() => void>;
}

/**
 * Runs a limited number of tasks at once; the others wait. Their owners (accounts, or anything that must not delay the
 * others) take turns, however many tasks one of them has; the tasks of one owner are started in their order.
 */
export class Queue {
  readonly #atOnce: number;
  readonly #each: (running: number) => number;
  readonly #most: number;
  /** The owners with tasks. */
  readonly #lines = new Map<string, Line>();
  /** Those with tasks that wait; the one whose turn is next comes first. */
  readonly #waitingLines = new Map<string, Line>();
  #running = 0;
  #waiting = 0;

  constructor({ atOnce = Number.POSITIVE_INFINITY, each = () => atOnce, waiting = Number.POSITIVE_INFINITY }: Limits) {
    this.#atOnce = atOnce;
    this.#each = each;
    this.#most = waiting;
  }

  /**
   * Runs a task in its turn and settles as it does. Rejects with `QueueFull` if too many wait, and with the signal's
   * reason if it is aborted while the task waits, which then never runs.
   */
  async run<T>(owner: string, task: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const line = this.#lines.get(owner) ?? { running: 0, waiting: new Set() };
    this.#lines.set(owner, line);
    try {
      if (this.#mayRun(line)) this.#begin(line);
      else await this.#turn(owner, line, signal);
      try {
        return await task();
      } finally {
        this.#end(line);
      }
    } finally {
      if (line.running === 0 && line.waiting.size === 0) this.#lines.delete(owner);
    }
  }

  #mayRun({ running }: Line): boolean {
    return this.#running < this.#atOnce && running < this.#each(this.#running);
  }

  #begin(line: Line): void {
    this.#running += 1;
    line.running += 1;
  }

  #end(line: Line): void {
    this.#running -= 1;
    line.running -= 1;
    this.#startNext();
  }

  #turn(owner: string, line: Line, signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    if (this.#waiting >= this.#most) throw new QueueFull(`more than ${this.#most} wait`);
    return new Promise((resolve, reject) => {
      const start = () => this.#forget(owner, line, start) && resolve(this.#begin(line));
      line.waiting.add(start);
      this.#waitingLines.set(owner, line);
      this.#waiting += 1;
      signal?.addEventListener('abort', () => this.#forget(owner, line, start) && reject(signal.reason));
    });
  }

  /** Takes a task out of those that wait; false if it does not wait any more. */
  #forget(owner: string, line: Line, start: () => void): boolean {
    if (!line.waiting.delete(start)) return false;
    this.#waiting -= 1;
    if (line.waiting.size === 0) this.#waitingLines.delete(owner);
    return true;
  }

  #startNext(): void {
    for (const [owner, line] of this.#waitingLines) {
      if (this.#running >= this.#atOnce) return;
      if (!this.#mayRun(line)) continue;
      const [start] = line.waiting;
      start?.();
      if (this.#waitingLines.delete(owner)) this.#waitingLines.set(owner, line); // Behind the others.
    }
  }
}
