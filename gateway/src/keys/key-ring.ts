import { hasExpired, type KeyCheck, type KeyHolder } from '@device-insights/fanout/key-check';
import type { KeySource } from '@device-insights/fanout/key-copier';
import type { Clock } from '@device-insights/fanout/platform/clock';
import type { Log } from '@device-insights/fanout/platform/log';
import { remember } from '@device-insights/fanout/platform/remember';
import type { Key, KeyStore } from '../store/store.js';
import { KeyLookups } from './key-lookups.js';

/** Precision of `last_used_at`, ms. */
const TOUCH_EVERY_MS = 60_000;
const MAX_TOUCHED = 10_000;
/** A poll this long after the previous one may find no trace of a key that was revoked and then erased, ms. */
const LATE_MS = 3000;
/** Revocations are read from this long before the newest known one, ms: concurrent writes may become visible late. */
const LOOK_BACK_MS = 10_000;

/** A time by both clocks, ms. */
interface Instant {
  readonly now: number;
  readonly monotonic: number;
}

/**
 * The keys of the store, for the sockets, REST and the copy for fan-out nodes: looked up on every use, watched for
 * revocations.
 */
export class KeyRing implements KeyCheck, KeySource {
  readonly #lookups: KeyLookups;
  /** The listeners for revocations, with their keys in use. */
  readonly #listeners = new Map<(hash: string) => void, () => Iterable<string>>();
  readonly #whenMissed = new Set<() => void>();
  readonly #touched = new Map<string, number>();
  /** Revocations already reported, by key id, with their times: kept while the look-back may return them again. */
  readonly #told = new Map<string, number>();
  #refused = 0;
  /** Time of the newest revocation that was reported, ms: a position in the store's order, which no clock changes. */
  #newest = 0;
  /** Start of the last poll that succeeded, by both clocks: the monotonic one may stand still with the machine. */
  #polled: Instant | null = null;

  constructor(
    private readonly store: KeyStore,
    private readonly clock: Clock,
    private readonly log: Pick<Log, 'warn'>,
  ) {
    this.#lookups = new KeyLookups(store, clock);
  }

  /** How often a key was asked for that is unknown, revoked or expired. */
  get refused(): number {
    return this.#refused;
  }

  async all(): Promise<Map<string, KeyHolder | null>> {
    const keys = await this.store.keys(null);
    return new Map(keys.map((key) => [key.hash, key.revokedAt === null ? holderOf(key) : null]));
  }

  async holder(hash: string): Promise<KeyHolder | null> {
    const key = await this.#good(hash);
    return key && holderOf(key);
  }

  /**
   * The key with this hash, unless it is unknown, revoked, expired or valid only for subscribing. Its use is recorded.
   */
  async key(hash: string): Promise<Key | null> {
    const key = await this.#good(hash);
    return key?.subscribeOnly ? null : key;
  }

  /** The keys that devices may stream with: all except those that may only subscribe. */
  get ofDevices(): KeyCheck {
    return {
      holder: async (hash) => {
        const key = await this.key(hash);
        return key && holderOf(key);
      },
      onRevoked: (run, inUse) => this.onRevoked(run, inUse),
    };
  }

  async #good(hash: string): Promise<Key | null> {
    const key = await this.#lookups.find(hash);
    if (!key || hasExpired(key, this.clock.now())) {
      this.#refused += 1;
      return null;
    }
    this.#touch(key.id);
    return key;
  }

  onRevoked(run: (hash: string) => void, inUse: () => Iterable<string>): () => void {
    this.#listeners.set(run, inUse);
    return () => this.#listeners.delete(run);
  }

  /**
   * Calls back whenever keys may have been revoked and erased without being reported, other than those in use; returns
   * the function that stops this.
   */
  onMissed(run: () => void): () => void {
    this.#whenMissed.add(run);
    return () => this.#whenMissed.delete(run);
  }

  /**
   * Reads from the store the keys that were revoked since the last call (at first, ever), and reports them. Called once
   * a second; a call that comes late also reports the keys in use that are not in the store any more.
   */
  async poll(): Promise<void> {
    const start = this.#time();
    for (const key of await this.store.keysRevokedSince(this.#newest - LOOK_BACK_MS))
      this.#tell(key, key.revokedAt ?? 0);
    for (const [id, at] of this.#told) if (at < this.#newest - LOOK_BACK_MS) this.#told.delete(id);
    const before = this.#polled ?? start;
    const end = this.#time();
    if (end.now - before.now > LATE_MS || end.monotonic - before.monotonic > LATE_MS) await this.#catchUp();
    this.#polled = start;
  }

  #time(): Instant {
    return { now: this.clock.now(), monotonic: this.clock.monotonic() };
  }

  async #catchUp(): Promise<void> {
    const uses = [...this.#listeners].map(([run, inUse]) => ({ run, hashes: [...inUse()] }));
    const keys = await this.all();
    for (const { run, hashes } of uses) for (const hash of hashes) if (!keys.get(hash)) run(hash);
    for (const run of this.#whenMissed) run();
  }

  #tell(key: Key, at: number): void {
    const known = this.#told.has(key.id);
    this.#told.set(key.id, at);
    this.#newest = Math.max(this.#newest, at);
    if (!known) for (const run of this.#listeners.keys()) run(key.hash);
  }

  /** Runs beside the request, which neither waits for it nor fails with it. */
  #touch(id: string): void {
    const now = this.clock.monotonic();
    if (now - (this.#touched.get(id) ?? Number.NEGATIVE_INFINITY) < TOUCH_EVERY_MS) return;
    remember(this.#touched, id, now, MAX_TOUCHED);
    this.store.touchKeys([id], this.clock.now()).catch((err: unknown) => {
      this.#touched.delete(id);
      this.log.warn({ err, key: id }, 'the last use of a key could not be recorded; the next use is recorded');
    });
  }
}

/** The account and user that a key stands for. */
function holderOf({ accountId: account, user, permissions, expiresAt }: Key): KeyHolder {
  return { account, user, permissions, expiresAt };
}
