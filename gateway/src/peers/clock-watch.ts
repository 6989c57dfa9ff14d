import type { Clock } from '@device-insights/fanout/platform/clock';
import type { Log } from '@device-insights/fanout/platform/log';
import type { Publisher } from '../publisher/publisher.js';
import { ALIVE_MS, type Heartbeats } from './heartbeats.js';

/** Clocks that differ by no more than this agree, ms: a heartbeat is up to a second old when it is read. */
const TOLERANCE_MS = 2000;

export interface ClockWatchOptions {
  readonly heartbeats: Heartbeats;
  /** Id of this gateway, whose own heartbeat may be from before its clock was set back. */
  readonly gateway: string;
  readonly publisher: Pick<Publisher, 'aheadMs'>;
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn' | 'info'>;
}

/**
 * Compares the wall clock of this gateway with the clocks of the others, by their heartbeats, and with the stamps of its
 * own insights. Apps repair lost connections by the `ts` of insights, so they can miss some if the clocks differ. Of two
 * gateways, the one that is behind notices it: a heartbeat may be late for many reasons, but it cannot be early.
 */
export class ClockWatch {
  readonly #options: ClockWatchOptions;
  #hasLooked = false;
  #behindMs = 0;
  #differenceMs = 0;

  constructor(options: ClockWatchOptions) {
    this.#options = options;
  }

  /** Time by which this gateway's clock is behind another gateway's clock or behind its own stamps, ms; 0 if it is not. */
  get behindMs(): number {
    return this.#behindMs;
  }

  /** Largest difference between this gateway's clock and that of another one that is alive, as of the last look, ms. */
  get differenceMs(): number {
    return this.#differenceMs;
  }

  /** Whether a gateway with this id has sent a heartbeat to the store, as of the last look. */
  knows(gateway: string): boolean {
    return this.#options.heartbeats.beatOf(gateway) !== undefined;
  }

  /** Reads the heartbeats; call once a second. Rejects as the store does. */
  async look(): Promise<void> {
    const { heartbeats, clock, log, publisher, gateway } = this.#options;
    await heartbeats.look();
    if (!this.#hasLooked) this.#lookBack();
    const now = clock.now();
    const alive = heartbeats.heardWithin(ALIVE_MS).filter((id) => id !== gateway);
    const ahead = alive.map((id) => (heartbeats.beatOf(id) ?? now) - now);
    const others = Math.max(0, ...ahead);
    this.#differenceMs = Math.max(0, ...ahead.map(Math.abs));
    const behindMs = Math.max(others, publisher.aheadMs);
    if (behindMs > TOLERANCE_MS && this.#behindMs <= TOLERANCE_MS)
      log.warn(
        { behindMs },
        others > TOLERANCE_MS
          ? "the clock of this gateway is behind another gateway's: set both, or apps may miss insights after lost connections"
          : "the clock was set back: the 'ts' of insights is ahead of it, and goes on at half speed until the clock has caught up; if it was far ahead by mistake, restart the gateway",
      );
    if (behindMs <= TOLERANCE_MS && this.#behindMs > TOLERANCE_MS) log.info({}, 'the clocks agree again');
    this.#behindMs = behindMs;
  }

  /** What a gateway left here whose clock was ahead, such as this one before it was started again. */
  #lookBack(): void {
    const { heartbeats, clock, log } = this.#options;
    const { newest } = heartbeats;
    if (newest - clock.now() > TOLERANCE_MS)
      log.warn(
        { now: new Date(clock.now()).toISOString(), newest: new Date(newest).toISOString() },
        'a gateway of this store had a clock that is ahead of this one: check both; until that time has passed, apps may miss insights after lost connections',
      );
    this.#hasLooked = true;
  }
}
