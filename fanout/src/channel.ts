import type { Bus, BusListener, BusMessage } from './bus/bus.js';
import type { Clock } from './clock.js';
import type { Counters } from './counters.js';
import { Outgoing } from './outgoing.js';
import type { Subscriber } from './subscriber.js';

export interface ChannelOptions {
  readonly bus: Bus;
  readonly clock: Clock;
  readonly counters: Counters;
  /** Called with the subscribers of an account that may have missed messages; they get nothing more. */
  readonly onHole: (subscribers: readonly Subscriber[]) => void;
  /** Called with a subscriber whose last write the kernel did not take whole. */
  readonly onBehind: (subscriber: Subscriber) => void;
  /** Called when messages wait for `flush`. */
  readonly onMessages: () => void;
  /** Called once, when the channel serves nobody any more: a later subscriber needs a new one. */
  readonly onEnd: () => void;
}

/** Those of an account's subscribers who see the same: one user's sessions, or (null) all. */
class Scope {
  readonly plain = new Set<Subscriber>();
  readonly deflating = new Set<Subscriber>();
  readonly waiting: Outgoing[] = [];

  get size(): number {
    return this.plain.size + this.deflating.size;
  }

  setOf(subscriber: Subscriber): Set<Subscriber> {
    return subscriber.deflates ? this.deflating : this.plain;
  }
}

/** One account on this node: its upstream subscription, its subscribers by scope, and what waits for the end of the turn. */
export class Channel implements BusListener {
  /** Resolves once the upstream subscription is confirmed; rejects where the bus cannot give it. */
  readonly confirmed: Promise<void>;
  readonly #scopes = new Map<string | null, Scope>();
  #holders = 0;
  #size = 0;
  #ended = false;
  #waiting = 0;
  #cancel: () => void = () => undefined;

  constructor(
    account: string,
    private readonly options: ChannelOptions,
  ) {
    this.confirmed = this.#subscribe(account);
    this.confirmed.catch(() => this.#end());
  }

  /** Keeps the upstream subscription until as many releases. */
  hold(): void {
    this.#holders += 1;
  }

  release(): void {
    this.#holders -= 1;
    if (this.#holders === 0) this.#end();
  }

  /** From now on the subscriber gets what is published for its scope, and nothing from before. */
  add(subscriber: Subscriber, user: string | null): void {
    if (this.#ended) {
      this.options.onHole([subscriber]);
      return;
    }
    this.flush(this.options.clock.now());
    const scope = this.#scopes.get(user) ?? new Scope();
    this.#scopes.set(user, scope);
    scope.setOf(subscriber).add(subscriber);
    this.#size += 1;
  }

  remove(subscriber: Subscriber, user: string | null): void {
    const scope = this.#scopes.get(user);
    if (!scope?.setOf(subscriber).delete(subscriber)) return;
    this.#size -= 1;
    if (scope.size === 0) this.#scopes.delete(user);
  }

  /** Sorts what came by those who see it; it goes out at the next `flush`. */
  messages(batch: readonly BusMessage[]): void {
    if (this.#size === 0) return;
    if (this.#waiting === 0) this.options.onMessages();
    const everybody = this.#scopes.get(null);
    for (const message of batch) {
      const scope = message.user === null ? undefined : this.#scopes.get(message.user);
      if (!everybody && !scope) continue;
      const outgoing = new Outgoing(message);
      everybody?.waiting.push(outgoing);
      scope?.waiting.push(outgoing);
    }
    this.#waiting += batch.length;
  }

  /** Messages may have been lost: what came before goes out, then the channel is over for those who sat in it. */
  hole(): void {
    if (this.#ended) return;
    this.flush(this.options.clock.now());
    this.options.counters.holes += 1;
    const subscribers = [...this.#scopes.values()].flatMap((scope) => [...scope.plain, ...scope.deflating]);
    this.#end();
    this.options.onHole(subscribers);
  }

  /** Writes what the turn has brought: one buffer a scope, one write a subscriber. */
  flush(now: number): void {
    if (this.#waiting === 0) return;
    const { counters } = this.options;
    counters.connected += this.#waiting * this.#size;
    for (const scope of this.#scopes.values()) {
      counters.filtered += (this.#waiting - scope.waiting.length) * scope.size;
      this.#write(scope, now);
    }
    this.#waiting = 0;
  }

  #write(scope: Scope, now: number): void {
    const waiting = scope.waiting.splice(0);
    if (waiting.length === 0) return;
    if (scope.plain.size > 0) this.#writeTo(scope.plain, waiting.map(plainOf), now);
    if (scope.deflating.size > 0) this.#writeTo(scope.deflating, waiting.map(deflatedOf), now);
  }

  #writeTo(subscribers: ReadonlySet<Subscriber>, frames: readonly Buffer[], now: number): void {
    const [first] = frames;
    const buffer = first && frames.length === 1 ? first : Buffer.concat(frames);
    let taken = 0;
    for (const subscriber of subscribers) {
      if (subscriber.write(buffer, frames.length, now)) taken += 1;
      else this.options.onBehind(subscriber);
    }
    this.options.counters.delivered += taken * frames.length;
  }

  async #subscribe(account: string): Promise<void> {
    const subscription = await this.options.bus.subscribe(account, this);
    this.#cancel = () => subscription.cancel();
    if (this.#ended) subscription.cancel();
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#scopes.clear();
    this.#size = 0;
    this.#cancel();
    this.options.onEnd();
  }
}

const plainOf = (outgoing: Outgoing) => outgoing.plain;
const deflatedOf = (outgoing: Outgoing) => outgoing.deflated;
