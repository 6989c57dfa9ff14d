import type { Bus, BusListener, BusMessage } from './bus/bus.js';
import type { Clock } from './clock.js';
import type { Counters } from './counters.js';
import { Outgoing } from './outgoing.js';
import { Scope } from './scope.js';
import type { Subscriber } from './subscriber.js';

/** What all channels of a node share. */
export interface ChannelHome {
  readonly bus: Bus;
  readonly clock: Clock;
  readonly counters: Counters;
  /** Called with the subscribers of an account that may have missed messages; they get nothing more. */
  onHole(subscribers: readonly Subscriber[]): void;
  /** Called with a subscriber whose last write the kernel did not take whole. */
  onBehind(subscriber: Subscriber): void;
  /** Called when messages wait for `flush`. */
  onWaiting(channel: Channel): void;
  /** Called once, when the channel serves nobody any more: a later subscriber needs a new one. */
  onEnd(channel: Channel): void;
}

/** Never pushed to: where accounts are many, most have nothing waiting. */
const NOTHING: Outgoing[] = [];

/** One account on this node: its upstream subscription, its subscribers by scope, and what waits for the end of the turn. */
export class Channel implements BusListener {
  /** Resolves once the upstream subscription is confirmed; rejects where the bus cannot give it. */
  readonly confirmed: Promise<void>;
  /** Those who see the whole account. */
  readonly #everybody = new Scope(this, null);
  /** Those who see one user's sessions, by user; made when there is one, as most accounts have none. */
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

  /** A place among those who see a user's sessions (null: all); the upstream subscription lives until as many releases. */
  reserve(user: string | null): Scope {
    const scope = this.#scopeFor(user);
    scope.holders += 1;
    return scope;
  }

  /** From now on the subscriber gets what is published for its scope, and nothing from before. */
  add(subscriber: Subscriber, scope: Scope): void {
    if (this.#ended) {
      this.home.onHole([subscriber]);
      return;
    }
    this.flush(this.home.clock.now());
    scope.add(subscriber);
    this.#size += 1;
  }

  /** Gives a place back, whether or not the subscriber was added; the last one to go ends the channel. */
  release(subscriber: Subscriber, scope: Scope): void {
    if (scope.remove(subscriber) && !this.#ended) this.#size -= 1;
    scope.holders -= 1;
    if (scope.holders === 0 && scope.user !== null) this.#users?.delete(scope.user);
    if (this.#everybody.holders === 0 && !this.#users?.size) this.#end();
  }

  /** Takes what came; it goes out at the next `flush`. */
  messages(batch: readonly BusMessage[]): void {
    if (this.#size === 0) return;
    if (this.#waiting.length > 0) {
      for (const message of batch) this.#waiting.push(new Outgoing(message));
    } else {
      this.#waiting = batch.map((message) => new Outgoing(message));
      if (this.#waiting.length > 0) this.home.onWaiting(this);
    }
  }

  /** Messages may have been lost: what came before goes out, then the channel is over for those who sat in it. */
  hole(): void {
    if (this.#ended) return;
    this.flush(this.home.clock.now());
    this.home.counters.holes += 1;
    const scopes = [this.#everybody, ...(this.#users?.values() ?? [])];
    this.#end();
    this.home.onHole(scopes.flatMap(({ plain, deflating }) => [...plain, ...deflating]));
  }

  /** Writes what the turn has brought: one buffer a scope, one write a subscriber. */
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

  /** Returns how many deliveries that was, to closing sockets too. */
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

/** The frames one after the other; a single one is not copied. */
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
