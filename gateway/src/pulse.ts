import type { Clock, Timer } from './clock.js';

/** What the pulse logs. */
interface Log {
  error(fields: object, text: string): void;
}

const EVERY = 1000;

/** What a gateway does once a second: says that it lives, and asks the store what other processes changed. */
export class Pulse {
  readonly #tasks: readonly (() => Promise<void>)[];
  readonly #clock: Clock;
  readonly #log: Log;
  #timer: Timer | null = null;
  #running: Promise<void> = Promise.resolve();
  #busy = false;

  constructor(tasks: readonly (() => Promise<void>)[], clock: Clock, log: Log) {
    this.#tasks = tasks;
    this.#clock = clock;
    this.#log = log;
  }

  /** Does everything once, then every second; a round that is still under way is not overtaken. */
  async start(): Promise<void> {
    await this.#round();
    this.#timer = this.#clock.every(EVERY, () => {
      if (!this.#busy) this.#running = this.#round();
    });
  }

  /** Stops, once the round under way is done. */
  async stop(): Promise<void> {
    this.#timer?.cancel();
    await this.#running;
  }

  async #round(): Promise<void> {
    this.#busy = true;
    for (const result of await Promise.allSettled(this.#tasks.map((task) => task()))) {
      if (result.status === 'rejected')
        this.#log.error({ err: result.reason }, 'a task of the pulse failed; it is tried again in a second');
    }
    this.#busy = false;
  }
}
