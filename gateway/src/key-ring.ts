import type { KeyCheck, KeyHolder } from '@device-insights/fanout';
import type { Clock } from './clock.js';
import type { Key, Store } from './store/store.js';

/** What the key ring logs. */
interface Log {
  warn(fields: object, text: string): void;
}

/** How precise `last_used_at` is, ms. */
const TOUCH_EVERY = 60_000;
/** Revocations are asked for from this long before the last answer, ms: the clocks of processes differ. */
const LOOK_BACK = 10_000;

/** The keys of the store, as sockets and REST need them: looked up on every use, and watched for revocations. */
export class KeyRing implements KeyCheck {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #listeners = new Set<(hash: string) => void>();
  readonly #touched = new Map<string, number>();
  /** Revocations already told, by key id, with when: kept as long as the look-back can bring them again. */
  readonly #told = new Map<string, number>();
  #polledUntil: number;

  constructor(store: Store, clock: Clock, log: Log) {
    this.#store = store;
    this.#clock = clock;
    this.#log = log;
    this.#polledUntil = clock.now();
  }

  async holder(hash: string): Promise<KeyHolder | null> {
    const key = await this.key(hash);
    return key && { account: key.accountId, user: key.user };
  }

  /** The key with this hash, unless it is unknown or revoked. Its use is noted. */
  async key(hash: string): Promise<Key | null> {
    const key = await this.#store.keyByHash(hash);
    if (!key || key.revokedAt !== null) return null;
    this.#touch(key.id);
    return key;
  }

  onRevoked(run: (hash: string) => void): () => void {
    this.#listeners.add(run);
    return () => this.#listeners.delete(run);
  }

  /** Asks the store what was revoked since the last time, and tells. Called once a second. */
  async poll(): Promise<void> {
    const now = this.#clock.now();
    for (const key of await this.#store.keysRevokedSince(this.#polledUntil - LOOK_BACK)) this.#tell(key, now);
    for (const [id, at] of this.#told) if (at < now - 2 * LOOK_BACK) this.#told.delete(id);
    this.#polledUntil = now;
  }

  #tell(key: Key, now: number): void {
    const known = this.#told.has(key.id);
    this.#told.set(key.id, now);
    if (!known) for (const run of this.#listeners) run(key.hash);
  }

  /** Beside the request: it does not wait for this, nor fail with it. */
  #touch(id: string): void {
    const now = this.#clock.now();
    if (now - (this.#touched.get(id) ?? Number.NEGATIVE_INFINITY) < TOUCH_EVERY) return;
    if (this.#touched.size > 10_000) this.#touched.clear();
    this.#touched.set(id, now);
    this.#store.touchKeys([id], now).catch((err: unknown) => {
      this.#touched.delete(id);
      this.#log.warn({ err, key: id }, 'the use of a key could not be noted; its next use will be');
    });
  }
}
