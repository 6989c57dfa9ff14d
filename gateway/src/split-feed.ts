import type { Clock } from './clock.js';
import type { Store } from './store/store.js';

/** A gateway that has beaten this lately is alive, ms. */
const ALIVE = 3000;

/** Watches for other gateways on the same store, whose insights a bus within this process does not carry. */
export class SplitFeed {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #gateway: string;
  readonly #warn: (text: string) => void;
  readonly #startedAt: number;
  #split = false;

  constructor(store: Store, clock: Clock, gateway: string, warn: (text: string) => void) {
    this.#store = store;
    this.#clock = clock;
    this.#gateway = gateway;
    this.#warn = warn;
    this.#startedAt = clock.now();
  }

  /** Looks at the heartbeats. Only those since this gateway's start count: the others may be its own former life's. */
  async look(): Promise<void> {
    const since = Math.max(this.#startedAt + 1, this.#clock.now() - ALIVE);
    const others = (await this.#store.gatewaysSince(since)).filter((id) => id !== this.#gateway);
    if (others.length > 0 && !this.#split) this.#warn(SPLIT);
    this.#split = others.length > 0;
  }

  /** Throws, saying what to do, while there are others. */
  check(): void {
    if (this.#split) throw new Error(SPLIT);
  }
}

const SPLIT = 'more than one gateway uses this store and none of their live insights reach the others: set REDIS_URL';
