import type { BusListener, BusMessage } from './bus/bus.js';
import type { Fanout } from './fanout.js';
import { textFrame } from './frame.js';
import type { Worker } from './platform/fair-scheduler.js';
import type { Subscriber } from './subscriber.js';

/** Maximum number of messages written to a subscriber at once: further ones save few calls of the kernel. */
const MAX_BATCH = 128;
/** Characters of waiting messages above which an account's subscribers are closed: they are published faster than this node can send them. */
const MAX_WAITING = 4 * 1024 * 1024;
/** Writes in one step. */
const WRITES = 16;

/** A message that waits to be sent. */
interface Waiting {
  readonly message: BusMessage;
  /** Its number among the messages of its channel. */
  readonly n: number;
}

/** The same, framed once for all its receivers. */
interface Framed extends Waiting {
  readonly frame: Buffer;
}

/** The subscribers of an account that see the same insights: one user's sessions, or all. */
export interface Scope {
  readonly channel: Channel;
  /** The user whose sessions they see; null means all. */
  readonly user: string | null;
  readonly subscribers: Set<Subscriber>;
  /** Number of places: the subscribers, and those still to be added. */
  holders: number;
}

/** One write for each of some subscribers. */
interface Delivery {
  readonly subscribers: readonly Subscriber[];
  readonly framed: readonly Framed[];
}

/**
 * One account on this node: its upstream subscription, its subscribers by scope, and the messages that wait to be sent.
 * They are sent in steps: while one batch is written, the next one grows, so that an account that publishes much to many
 * subscribers costs fewer writes.
 */
export class Channel implements BusListener, Worker {
  /** Resolves once the upstream subscription is confirmed; rejects if the bus cannot provide it. */
  readonly confirmed: Promise<void>;
  /** Subscribers that see the whole account. */
  readonly #everybody = this.#newScope(null);
  /**
   * Subscribers that see one user's sessions, by user; created when the first one arrives, as most accounts have none.
   */
  #users: Map<string, Scope> | undefined;
  #size = 0;
  #ended = false;
  isWaiting = false;
  /** Messages taken since the start. */
  #taken = 0;
  #waiting: Waiting[] = [];
  /** Characters of the messages that wait. */
  #length = 0;
  /** The batch that is being written. */
  #writing: Iterator<void> | undefined;
  #cancel: (() => void) | undefined;

  constructor(
    readonly account: string,
    private readonly fanout: Fanout,
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
      this.fanout.onLoss([subscriber]);
      return;
    }
    subscriber.since = this.#taken;
    scope.subscribers.add(subscriber);
    this.#size += 1;
  }

  /** Releases a place, whether or not the subscriber was added; the last release ends the channel. */
  release(subscriber: Subscriber, scope: Scope): void {
    if (scope.subscribers.delete(subscriber) && !this.#ended) this.#size -= 1;
    scope.holders -= 1;
    if (scope.holders === 0 && scope.user !== null) this.#users?.delete(scope.user);
    if (this.#everybody.holders === 0 && !this.#users?.size) this.#end();
  }

  get size(): number {
    return this.#size;
  }

  /** Takes messages, which are sent in the next turns. */
  messages(batch: readonly BusMessage[]): void {
    if (this.#size === 0 || batch.length === 0) return;
    for (const message of batch) {
      this.#waiting.push({ message, n: this.#taken++ });
      this.#length += message.text.length;
    }
    if (this.#length > MAX_WAITING) this.#overflow();
    else this.fanout.scheduler.add(this);
  }

  /** Messages may have been lost: the messages so far are sent, then the channel ends for its current subscribers. */
  loss(): void {
    if (this.#ended) return;
    while (this.step());
    this.#lose();
  }

  /** Writes a few messages to a few subscribers; false if all is written. */
  step(): boolean {
    this.#writing ??= this.#write(this.#next());
    if (!this.#writing.next().done) return true;
    this.#writing = undefined;
    return this.#waiting.length > 0;
  }

  /** Drops what waits: whoever reads it over REST misses nothing. */
  #overflow(): void {
    const { counters } = this.fanout;
    const dropped = this.#waiting.length * this.#size;
    counters.connected += dropped;
    counters.dropped += dropped;
    this.#waiting = [];
    this.#length = 0;
    this.#lose();
  }

  #lose(): void {
    this.fanout.counters.losses += 1;
    const scopes = [this.#everybody, ...(this.#users?.values() ?? [])];
    this.#end();
    this.fanout.onLoss(scopes.flatMap(({ subscribers }) => [...subscribers]));
  }

  /** The next batch of the waiting messages. */
  #next(): readonly Framed[] {
    const batch = this.#waiting;
    this.#waiting = batch.length > MAX_BATCH ? batch.splice(MAX_BATCH) : [];
    for (const { message } of batch) this.#length -= message.text.length;
    return batch.map((waiting) => ({ ...waiting, frame: textFrame(waiting.message.text) }));
  }

  /** Writes a batch to those who are subscribed now, a few in each step. */
  *#write(batch: readonly Framed[]): Generator<void, void, undefined> {
    const deliveries = this.#deliveriesOf(batch);
    const { counters } = this.fanout;
    const seen = deliveries.reduce((sum, { subscribers, framed }) => sum + subscribers.length * framed.length, 0);
    counters.connected += batch.length * this.#size;
    counters.filtered += batch.length * this.#size - seen;
    for (const delivery of deliveries) {
      const { subscribers, framed } = delivery;
      const frames = joined(framed);
      for (let at = 0; at < subscribers.length; at += WRITES) {
        const now = this.fanout.clock.monotonic();
        for (let i = at; i < Math.min(at + WRITES, subscribers.length); i++) {
          const subscriber = subscribers[i];
          if (subscriber) this.#writeTo(subscriber, delivery, frames, now);
        }
        yield;
      }
    }
  }

  /** Who gets what of a batch. The lists are copies: subscribers come and go between two steps. */
  #deliveriesOf(batch: readonly Framed[]): Delivery[] {
    const deliveries = [{ subscribers: [...this.#everybody.subscribers], framed: batch }];
    if (this.#users)
      for (const [user, framed] of byUser(batch))
        deliveries.push({ subscribers: [...(this.#users.get(user)?.subscribers ?? [])], framed });
    return deliveries.filter(({ subscribers }) => subscribers.length > 0);
  }

  /** Writes the frames, without those that were published before this subscriber came. */
  #writeTo(subscriber: Subscriber, { framed }: Delivery, frames: Buffer, now: number): void {
    const isNew = framed[0] !== undefined && framed[0].n < subscriber.since;
    const own = isNew ? framed.filter(({ n }) => n >= subscriber.since) : framed;
    this.fanout.counters.filtered += framed.length - own.length;
    if (own.length === 0) return;
    if (subscriber.write(isNew ? joined(own) : frames, own.length, now)) this.fanout.counters.delivered += own.length;
    else this.fanout.onBehind(subscriber);
  }

  #scopeFor(user: string | null): Scope {
    if (user === null) return this.#everybody;
    this.#users ??= new Map();
    const scope = this.#users.get(user) ?? this.#newScope(user);
    this.#users.set(user, scope);
    return scope;
  }

  #newScope(user: string | null): Scope {
    return { channel: this, user, subscribers: new Set(), holders: 0 };
  }

  async #subscribe(): Promise<void> {
    const subscription = await this.fanout.bus.subscribe(this.account, this);
    this.#cancel = () => subscription.cancel();
    if (this.#ended) subscription.cancel();
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#size = 0;
    this.#cancel?.();
    this.fanout.onEnd(this);
  }
}

/** The frames one after the other; a single frame is not copied. */
function joined(framed: readonly Framed[]): Buffer {
  const [first] = framed;
  return first && framed.length === 1 ? first.frame : Buffer.concat(framed.map(({ frame }) => frame));
}

/** The messages that concern a user, by user. */
function byUser(batch: readonly Framed[]): Map<string, Framed[]> {
  const users = new Map<string, Framed[]>();
  for (const it of batch) {
    const { user } = it.message;
    if (user === null) continue;
    const own = users.get(user);
    if (own) own.push(it);
    else users.set(user, [it]);
  }
  return users;
}
