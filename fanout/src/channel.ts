import type { Bus, BusListener, BusMessage } from './bus/bus.js';
import type { Counters } from './counters.js';
import { Outgoing } from './outgoing.js';
import type { Clock } from './process/clock.js';
import { Scope } from './scope.js';
import type { Subscriber } from './subscriber.js';

/** The objects that all channels of a node share. */
export interface ChannelHome {
  readonly bus: Bus;
  readonly clock: Clock;
  readonly counters: Counters;
  /** Called with the subscribers of an account that may have missed messages; they receive nothing more. */
  onLoss(subscribers: readonly Subscriber[]): void;
  /** Called with a subscriber whose last write the kernel did not completely accept. */
  onBehind(subscriber: Subscriber): void;
  /** Called when messages wait for `flush`. */
  onWaiting(channel: Channel): void;
  /** Called once, when the channel serves nobody any more: a later subscriber needs a new channel. */
  onEnd(channel: Channel): void;
}

/** Never pushed to: with many accounts, most have no waiting messages. */
const NOTHING: Outgoing[] = [];

/**
 * One account on this node: its upstream subscription, its subscribers by scope, and the messages that wait for the end
 * of the turn.
 */
export class Channel implements BusListener {
  /** Resolves once the upstream subscription is confirmed; rejects if the bus cannot provide it. */
  readonly confirmed: Promise<void>;
  /** Subscribers that see the whole account. */
  readonly #everybody = new Scope(this, null);
  /**
   * Subscribers that see one user's sessions, by user; created when the first one arrives, as most accounts have none.
   */
  #users: Map<string, Scope> | undefined;
  #size = 0;
  #ended = false;
  /** A new list for each flush. */
  #waiting = NOTHING;
  #cancel: (() => void) | undefined;

  constructor(
    readonly account: string,
    private readonly home: ChannelHome,
  ) {
    this.confirmed = this.#subscribe();
    this.confirmed.catch(() => this.#end());
  }

  /**
   * Reserves a place among the subscribers that see a user's sessions (null: all); the upstream subscription lives
   * until every place is released.
   */
  reserve(user: string | null): Scope {
    const scope = this.#scopeFor(user);
    scope.holders += 1;
    return scope;
  }

  /** From now on the subscriber receives the messages published for its scope, and no earlier ones. */
  add(subscriber: Subscriber, scope: Scope): void {
    if (this.#ended) {
      this.home.onLoss([subscriber]);
      return;
    }
    this.flush(this.home.clock.monotonic());
    scope.add(subscriber);
    this.#size += 1;
  }

  /** Releases a place, whether or not the subscriber was added; the last release ends the channel. */
  release(subscriber: Subscriber, scope: Scope): void {
    if (scope.remove(subscriber) && !this.#ended) this.#size -= 1;
    scope.holders -= 1;
    if (scope.holders === 0 && scope.user !== null) this.#users?.delete(scope.user);
    if (this.#everybody.holders === 0 && !this.#users?.size) this.#end();
  }

  /** Takes messages, which are sent at the next `flush`. */
  messages(batch: readonly BusMessage[]): void {
    if (this.#size === 0) return;
    if (this.#waiting.length > 0) {
      for (const message of batch) this.#waiting.push(new Outgoing(message));
    } else {
      this.#waiting = batch.map((message) => new Outgoing(message));
      if (this.#waiting.length > 0) this.home.onWaiting(this);
    }
  }

  /** Messages may have been lost: the messages so far are sent, then the channel ends for its current subscribers. */
  loss(): void {
    if (this.#ended) return;
    this.flush(this.home.clock.monotonic());
    this.home.counters.losses += 1;
    const scopes = [this.#everybody, ...(this.#users?.values() ?? [])];
    this.#end();
    this.home.onLoss(scopes.flatMap(({ plain, deflating }) => [...plain, ...deflating]));
  }

  /** Writes the messages of the turn: one buffer for each scope, one write for each subscriber. */
  flush(now: number): void {
    const waiting = this.#waiting;
    if (waiting.length === 0) return;
    this.#waiting = NOTHING;
    let seen = this.#writeTo(this.#everybody, waiting, now);
    if (this.#users) {
      for (const [user, own] of byUser(waiting)) seen += this.#writeTo(this.#users.get(user), own, now);
    }
    const { counters } = this.home;
    counters.connected += waiting.length * this.#size;
    counters.filtered += waiting.length * this.#size - seen;
  }

  /** Returns the number of deliveries, including those to closing sockets. */
  #writeTo(scope: Scope | undefined, outgoing: readonly Outgoing[], now: number): number {
    if (!scope) return 0;
    const { plain, deflating } = scope;
    if (plain.length > 0) this.#write(plain, outgoing.length, joined(outgoing, plainOf), now);
    if (deflating.length > 0) this.#write(deflating, outgoing.length, joined(outgoing, deflatedOf), now);
    return scope.size * outgoing.length;
  }

  #write(subscribers: readonly Subscriber[], messages: number, buffer: Buffer, now: number): void {
    let taken = 0;
    for (const subscriber of subscribers) {
      if (subscriber.write(buffer, messages, now)) taken += 1;
      else this.home.onBehind(subscriber);
    }
    this.home.counters.delivered += taken * messages;
  }

  #scopeFor(user: string | null): Scope {
    if (user === null) return this.#everybody;
    this.#users ??= new Map();
    const scope = this.#users.get(user) ?? new Scope(this, user);
    this.#users.set(user, scope);
    return scope;
  }

  async #subscribe(): Promise<void> {
    const subscription = await this.home.bus.subscribe(this.account, this);
    this.#cancel = () => subscription.cancel();
    if (this.#ended) subscription.cancel();
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#size = 0;
    this.#cancel?.();
    this.home.onEnd(this);
  }
}

const plainOf = (outgoing: Outgoing) => outgoing.plain;
const deflatedOf = (outgoing: Outgoing) => outgoing.deflated;

/** The frames one after the other; a single frame is not copied. */
function joined(outgoing: readonly Outgoing[], frameOf: (outgoing: Outgoing) => Buffer): Buffer {
  const [first] = outgoing;
  return first && outgoing.length === 1 ? frameOf(first) : Buffer.concat(outgoing.map(frameOf));
}

/** The messages that concern a user, by user. */
function byUser(outgoing: readonly Outgoing[]): Map<string, Outgoing[]> {
  const users = new Map<string, Outgoing[]>();
  for (const it of outgoing) {
    const { user } = it.message;
    if (user === null) continue;
    const own = users.get(user);
    if (own) own.push(it);
    else users.set(user, [it]);
  }
  return users;
}
