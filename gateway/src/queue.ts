/** More tasks wait than allowed. */
export class QueueFull extends Error {
  override readonly name = 'QueueFull';
}

/**
 * Runs a limited number of tasks concurrently; the others wait, and a task is rejected with `QueueFull` if too many
 * wait.
 */
export class Queue {
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(
    readonly atOnce: number,
    readonly most: number,
  ) {}

  async run<T>(task: () => Promise<T>): Promise<T> {
    await this.#turn();
    try {
      return await task();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running -= 1;
    }
  }

  #turn(): Promise<void> {
    if (this.#running < this.atOnce) {
      this.#running += 1;
      return Promise.resolve();
    }
    if (this.#waiting.length >= this.most) return Promise.reject(new QueueFull(`more than ${this.most} wait`));
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
