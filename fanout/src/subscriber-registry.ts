import { hasExpired } from './keys/key-check.js';
import type { Subscriber } from './subscriber.js';

/**
 * The subscribers with one key. Its hash is stored once for them: 64 digits for each subscriber would use almost as
 * much memory as the subscriber itself.
 */
export interface KeyGroup {
  readonly hash: string;
  readonly subscribers: Set<Subscriber>;
  /** Time at which the key expires, ms since the epoch; null if it never expires, or is not known yet. */
  expiresAt: number | null;
}

/** The subscribers of a node, by the hash of their key. */
export class SubscriberRegistry implements Iterable<Subscriber> {
  readonly #groups = new Map<string, KeyGroup>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  *[Symbol.iterator](): Generator<Subscriber> {
    for (const { subscribers } of this.#groups.values()) for (const subscriber of subscribers) yield subscriber;
  }

  /** The hashes of the keys in use. */
  keys(): Iterable<string> {
    return this.#groups.keys();
  }

  withKey(hash: string): Iterable<Subscriber> {
    return this.#groups.get(hash)?.subscribers ?? [];
  }

  /** The subscribers whose key has expired. */
  *expired(now: number): Generator<Subscriber> {
    for (const group of this.#groups.values()) if (hasExpired(group, now)) yield* group.subscribers;
  }

  /** Call once for each subscriber. */
  add(subscriber: Subscriber, hash: string): void {
    const group = this.#groups.get(hash) ?? { hash, subscribers: new Set(), expiresAt: null };
    this.#groups.set(group.hash, group);
    group.subscribers.add(subscriber);
    subscriber.group = group;
    this.#size += 1;
  }

  /** Harmless for a subscriber that was never added. */
  remove(subscriber: Subscriber): void {
    const { group } = subscriber;
    if (!group?.subscribers.delete(subscriber)) return;
    if (group.subscribers.size === 0) this.#groups.delete(group.hash);
    this.#size -= 1;
  }
}
