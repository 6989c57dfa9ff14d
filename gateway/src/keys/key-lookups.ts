import type { Clock } from '@device-insights/fanout/platform/clock';
import { remember } from '@device-insights/fanout/platform/remember';
import { Queue, QueueFull } from '../queue.js';
import { type Key, type KeyStore, StoreUnavailable } from '../store/store.js';

/** Time for which a refusal is remembered, ms: a key that is issued meanwhile works after it. */
const REFUSED_MS = 1000;
/** Number of hashes that are remembered, of valid keys and of refusals: the oldest are forgotten first. */
const REMEMBERED = 10_000;
/** Concurrent look-ups of unknown hashes; fewer than the connections to the store. */
const STRANGERS = 32;
/** Look-ups that may wait for these. */
const WAITING = 1000;
/** An unknown key belongs to nobody. */
const NOBODY = '';

/**
 * Looks up keys in the store, on every use. Unknown keys, with which strangers may flood the service, share a few
 * look-ups at a time and wait in a queue, or are refused; keys that were valid before do not wait for them.
 */
export class KeyLookups {
  readonly #underWay = new Map<string, Promise<Key | null>>();
  /** Hashes of keys that were valid at their last look-up. */
  readonly #known = new Map<string, true>();
  /** Refused hashes, with the time of the refusal. */
  readonly #refused = new Map<string, number>();
  readonly #strangers = new Queue({ atOnce: STRANGERS, waiting: WAITING });

  constructor(
    private readonly store: Pick<KeyStore, 'keyByHash'>,
    private readonly clock: Clock,
  ) {}

  /**
   * The key with this hash, unless it is unknown or revoked. Rejects as the store does, and if too many look-ups wait.
   */
  find(hash: string): Promise<Key | null> {
    const refusedAt = this.#refused.get(hash) ?? Number.NEGATIVE_INFINITY;
    if (this.clock.monotonic() - refusedAt < REFUSED_MS) return Promise.resolve(null);
    const underWay = this.#underWay.get(hash);
    if (underWay) return underWay;
    const found = (this.#known.has(hash) ? this.#look(hash) : this.#lookInTurn(hash)).finally(() =>
      this.#underWay.delete(hash),
    );
    this.#underWay.set(hash, found);
    return found;
  }

  async #look(hash: string): Promise<Key | null> {
    const key = await this.store.keyByHash(hash);
    const good = key !== null && key.revokedAt === null;
    if (good) remember(this.#known, hash, true, REMEMBERED);
    else remember(this.#refused, hash, this.clock.monotonic(), REMEMBERED);
    if (!good) this.#known.delete(hash);
    return good ? key : null;
  }

  async #lookInTurn(hash: string): Promise<Key | null> {
    try {
      return await this.#strangers.run(NOBODY, () => this.#look(hash));
    } catch (cause) {
      if (!(cause instanceof QueueFull)) throw cause;
      throw new StoreUnavailable('too many unknown keys are being looked up', { cause });
    }
  }
}
