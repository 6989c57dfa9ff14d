import type { Subscriber } from './subscriber.js';

/** The subscribers with one key. Its hash is kept once: 64 digits for each weighed almost as much as a subscriber itself. */
export interface KeyGroup {
  readonly hash: string;
  readonly subscribers: Set<Subscriber>;
}

/** The subscribers of a node, by the hash of their key. */
export class Roster implements Iterable<Subscriber> {
  readonly #groups = new Map<string, KeyGroup>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  *[Symbol.iterator](): Generator<Subscriber> {
    for (const { subscribers } of this.#groups.values()) for (const subscriber of subscribers) yield subscriber;
  }

  withKey(hash: string): Iterable<Subscriber> {
    return this.#groups.get(hash)?.subscribers ?? [];
  }

  /** To be called once for each. */
  add(subscriber: Subscriber, hash: string): void {
    const group = this.#groups.get(hash) ?? { hash, subscribers: new Set() };
    this.#groups.set(group.hash, group);
    group.subscribers.add(subscriber);
    subscriber.group = group;
    this.#size += 1;
  }

  /** Harmless for one who was never added. */
  remove(subscriber: Subscriber): void {
    const { group } = subscriber;
    if (!group?.subscribers.delete(subscriber)) return;
    if (group.subscribers.size === 0) this.#groups.delete(group.hash);
    this.#size -= 1;
  }
}
