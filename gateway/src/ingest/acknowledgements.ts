import type { Clock, Timer } from '@device-insights/fanout/process/clock';
import type { Intake } from './intake.js';
import { LIMITS } from './limits.js';

/** Data time after which an acknowledgement is sent without waiting for the interval, ms. */
const ACK_DATA_MS = 5000;

/** When a session acknowledges what it has received: at an interval, and soon when much has come. */
export class Acknowledgements {
  readonly #intake: Pick<Intake, 'unacknowledgedMs' | 'acknowledged'>;
  readonly #clock: Clock;
  readonly #send: () => void;
  #timer: Timer | null = null;
  #isSoon = false;

  /** @param send sends the acknowledgement of everything received so far */
  constructor(intake: Pick<Intake, 'unacknowledgedMs' | 'acknowledged'>, clock: Clock, send: () => void) {
    this.#intake = intake;
    this.#clock = clock;
    this.#send = send;
  }

  /** Something is to be acknowledged. */
  schedule(): void {
    if (this.#intake.unacknowledgedMs >= ACK_DATA_MS) this.#soon();
    else this.#timer ??= this.#clock.after(LIMITS.ack_interval_ms, () => this.#now());
  }

  /** Acknowledges at once what is not yet acknowledged; nothing else is due after that. */
  finish(): void {
    this.cancel();
    if (this.#intake.unacknowledgedMs > 0) this.#now();
  }

  cancel(): void {
    this.#timer?.cancel();
    this.#timer = null;
  }

  /**
   * One acknowledgement for everything that the running callback receives: a flood would otherwise get one for every
   * few frames.
   */
  #soon(): void {
    if (this.#isSoon) return;
    this.#isSoon = true;
    queueMicrotask(() => {
      this.#isSoon = false;
      if (this.#intake.unacknowledgedMs > 0) this.#now();
    });
  }

  #now(): void {
    this.cancel();
    this.#intake.acknowledged();
    this.#send();
  }
}
