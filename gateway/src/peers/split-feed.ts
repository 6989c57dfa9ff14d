import type { Clock } from '@device-insights/fanout/process/clock';
import type { Store } from '../store/store.js';
import { ALIVE_MS, Heartbeats } from './heartbeats.js';

/** Detects other gateways on the same store, whose insights a bus within this process does not carry. */
export class SplitFeed {
  readonly #heartbeats: Heartbeats;
  readonly #gateway: string;
  readonly #warn: (text: string) => void;
  #split = false;

  constructor(store: Store, clock: Clock, gateway: string, warn: (text: string) => void) {
    this.#heartbeats = new Heartbeats(store, clock);
    this.#gateway = gateway;
    this.#warn = warn;
  }

  /**
   * Reads the heartbeats. Only those that are seen to change count: others may be left from an earlier run of this
   * gateway.
   */
  async look(): Promise<void> {
    await this.#heartbeats.look();
    const others = this.#heartbeats.heardWithin(ALIVE_MS).filter((id) => id !== this.#gateway);
    if (others.length > 0 && !this.#split) this.#warn(SPLIT);
    this.#split = others.length > 0;
  }

  /** Throws an error that says what to do, while there are other gateways. */
  check(): void {
    if (this.#split) throw new Error(SPLIT);
  }
}

const SPLIT = 'several gateways use this store, and their live insights do not reach each other: set REDIS_URL';
