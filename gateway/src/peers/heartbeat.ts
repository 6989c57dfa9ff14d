import type { Clock } from '@device-insights/fanout/platform/clock';
import { shared } from '@device-insights/fanout/platform/promises';
import type { GatewayStore } from '../store/store.js';

/**
 * A heartbeat older than this is written again before a session begins, ms: after 5 s without one, others may take the
 * gateway for dead.
 */
const FRESH_MS = 2500;

/** This gateway's own heartbeat in the store, by which the others know that it is alive. */
export class Heartbeat {
  #writtenAt = Number.NEGATIVE_INFINITY;
  readonly #renewal = shared(() => this.beat());

  constructor(
    private readonly store: Pick<GatewayStore, 'beat'>,
    private readonly gateway: string,
    private readonly clock: Clock,
  ) {}

  /** Writes it; call once a second. Rejects as the store does. */
  async beat(): Promise<void> {
    const at = this.clock.monotonic();
    await this.store.beat(this.gateway, this.clock.now());
    this.#writtenAt = Math.max(this.#writtenAt, at);
  }

  /**
   * Resolves once a recent heartbeat is in the store: at once, unless the store could not be reached for a while. The
   * others would close a session that begins before that, as they take this gateway for dead. Rejects as the store does.
   */
  async renew(): Promise<void> {
    if (this.clock.monotonic() - this.#writtenAt > FRESH_MS) await this.#renewal();
  }
}
