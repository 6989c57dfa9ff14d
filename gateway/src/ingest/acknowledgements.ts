import { LIMITS } from '@device-insights/contract/ingest';
import type { Clock, Timer } from '@device-insights/fanout/platform/clock';
import type { Intake } from './intake.js';

/** Data time after which an acknowledgement is sent without waiting for the interval, ms. */
const ACK_DATA_MS = 5000;

/** When to acknowledge received data to the device of a session. */
export class Acknowledgements {
  readonly #intake: Intake;
  readonly #clock: Clock;
  readonly #send: (nextSeq: Readonly<Record<string, number>>) => void;
  #timer: Timer | null = null;
  #isSoon = false;

  constructor(intake: Intake, clock: Clock, send: (nextSeq: Readonly<Record<string, number>>) => void) {
    this.#intake = intake;
    this.#clock = clock;
    this.#send = send;
  }

  /** Call after data were received: sends an acknowledgement within the interval, or at once if much data wait for it. */
  schedule(): void {
    if (this.#intake.unacknowledgedMs >= ACK_DATA_MS) this.#soon();
    else this.#timer ??= this.#clock.after(LIMITS.ack_interval_ms, () => this.#acknowledge());
  }

  /** Acknowledges the remaining data at once. */
  finish(): void {
    this.cancel();
    if (this.#intake.unacknowledgedMs > 0) this.#acknowledge();
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
      if (this.#intake.unacknowledgedMs > 0) this.#acknowledge();
    });
  }

  #acknowledge(): void {
    this.cancel();
    this.#intake.acknowledged();
    this.#send(this.#intake.nextSeq());
  }
}
