import type { Clock, Timer } from '@device-insights/fanout/process/clock';
import type { Log } from '@device-insights/fanout/process/log';

const PERIOD_MS = 1000;

/**
 * The tasks of a gateway that are due once a second: its heartbeat, and reading from the store what other processes
 * have changed.
 */
export class PeriodicTasks {
  readonly #tasks: readonly (() => Promise<void>)[];
  readonly #clock: Clock;
  readonly #log: Pick<Log, 'error'>;
  #timer: Timer | null = null;
  #running: Promise<void> = Promise.resolve();
  #busy = false;

  constructor(tasks: readonly (() => Promise<void>)[], clock: Clock, log: Pick<Log, 'error'>) {
    this.#tasks = tasks;
    this.#clock = clock;
    this.#log = log;
  }

  /** Runs all tasks once, then every second; a round does not start while the previous one is running. */
  async start(): Promise<void> {
    await this.#round();
    this.#timer = this.#clock.every(PERIOD_MS, () => {
      if (!this.#busy) this.#running = this.#round();
    });
  }

  /** Stops, once the running round is done. */
  async stop(): Promise<void> {
    this.#timer?.cancel();
    await this.#running;
  }

  async #round(): Promise<void> {
    this.#busy = true;
    for (const result of await Promise.allSettled(this.#tasks.map((task) => task()))) {
      if (result.status === 'rejected')
        this.#log.error({ err: result.reason }, 'a periodic task failed; it runs again in a second');
    }
    this.#busy = false;
  }
}
