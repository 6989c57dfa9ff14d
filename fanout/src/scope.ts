import type { Subscriber } from './subscriber.js';

/** Those of an account's subscribers who see the same: one user's sessions, or all. */
export class Scope {
  readonly plain: Subscriber[] = [];
  readonly deflating: Subscriber[] = [];

  get size(): number {
    return this.plain.length + this.deflating.length;
  }

  add(subscriber: Subscriber): void {
    subscriber.slot = this.#listOf(subscriber).push(subscriber) - 1;
  }

  /** The last one takes the slot of the one that goes. */
  remove(subscriber: Subscriber): void {
    const list = this.#listOf(subscriber);
    const last = list.pop();
    if (!last || last === subscriber) return;
    list[subscriber.slot] = last;
    last.slot = subscriber.slot;
  }

  #listOf(subscriber: Subscriber): Subscriber[] {
    return subscriber.deflates ? this.deflating : this.plain;
  }
}
