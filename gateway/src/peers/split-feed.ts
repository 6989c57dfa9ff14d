import type { Clock } from '@device-insights/fanout/process/clock';
import type { GatewayStore } from '../store/store.js';
import { ALIVE_MS, Heartbeats } from './heartbeats.js';

/** Detects other gateways on the same store, whose insights a bus within this process does not carry. */
export class SplitFeed {
  readonly #heartbeats: Heartbeats;
  readonly #gateway: string;
  #split = false;

  constructor(store: GatewayStore, clock: Clock, gateway: string) {
    this.#heartbeats = new Heartbeats(store, clock);
    this.#gateway = gateway;
  }

  /**
   * Reads the heartbeats. Only those that are seen to change count: others may be left from an earlier run of this
   * gateway.
   */
  async look(): Promise<void> {
    await this.#heartbeats.look();
    const others = this.#heartbeats.heardWithin(ALIVE_MS).filter((id) => id !== this.#gateway);
    this.#split = others.length > 0;
  }

  /** Throws an error that says what to do, while there are other gateways. */
  check(): void {
    if (this.#split) throw new Error('several gateways use this store, but no Redis connects them: set REDIS_URL');
  }
}
