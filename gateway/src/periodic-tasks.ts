import type { Clock, Timer } from '@device-insights/fanout/platform/clock';
import type { Log } from '@device-insights/fanout/platform/log';
import { messageOf } from '@device-insights/fanout/platform/message-of';

const PERIOD_MS = 1000;

/**
 * The tasks of a gateway that are due once a second: its heartbeat, and reading from the store what other processes
 * have changed.
 */
export class PeriodicTasks {
  /** The message of each task's failure in the last round that it failed in; absent for a task that works. */
  readonly #failing = new Map<() => Promise<void>, string>();
  #timer: Timer | null = null;
  #running: Promise<void> = Promise.resolve();
  #busy = false;

  constructor(
    private readonly tasks: readonly (() => Promise<void>)[],
    private readonly clock: Clock,
    private readonly log: Pick<Log, 'error' | 'info'>,
  ) {}

  /** Runs all tasks once, then every second; a round does not start while the previous one is running. */
  async start(): Promise<void> {
    await this.#round();
    this.#timer = this.clock.every(PERIOD_MS, () => {
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
    await Promise.all(
      this.tasks.map((task) =>
        task().then(
          () => this.#worked(task),
          (error: unknown) => this.#failed(task, error),
        ),
      ),
    );
    this.#busy = false;
  }

  #worked(task: () => Promise<void>): void {
    if (this.#failing.delete(task) && this.#failing.size === 0) this.log.info({}, 'all periodic tasks work again');
  }

  /** A disk may be full for days: only another failure than the last is logged. */
  #failed(task: () => Promise<void>, err: unknown): void {
    const message = messageOf(err);
    if (![...this.#failing.values()].includes(message))
      this.log.error({ err }, 'a periodic task failed; trying again every second');
    this.#failing.set(task, message);
  }
}
