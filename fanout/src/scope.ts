import type { Channel } from './channel.js';
import type { Subscriber } from './subscriber.js';

/** The subscribers of an account that see the same insights: one user's sessions, or all. */
export class Scope {
  readonly plain: Subscriber[] = [];
  readonly deflating: Subscriber[] = [];
  /** Number of places: the subscribers in the lists, and those still to be added. */
  holders = 0;

  constructor(
    readonly channel: Channel,
    /** The user whose sessions they see; null means all. */
    readonly user: string | null,
  ) {}

  get size(): number {
    return this.plain.length + this.deflating.length;
  }

  add(subscriber: Subscriber): void {
    subscriber.slot = this.#listOf(subscriber).push(subscriber) - 1;
  }

  /** The last subscriber takes the slot of the removed one. Returns whether it was there. */
  remove(subscriber: Subscriber): boolean {
    const { slot } = subscriber;
    const last = slot < 0 ? undefined : this.#listOf(subscriber).pop();
    if (!last) return false;
    if (last !== subscriber) this.#listOf(subscriber)[slot] = last;
    last.slot = slot;
    subscriber.slot = -1;
    return true;
  }

  #listOf(subscriber: Subscriber): Subscriber[] {
    return subscriber.deflates ? this.deflating : this.plain;
  }
}
