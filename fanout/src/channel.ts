import type { Bus, BusListener, BusMessage } from './bus/bus.js';
import type { Clock } from './clock.js';
import type { Counters } from './counters.js';
import { textFrame } from './frame.js';
import type { Subscriber } from './subscriber.js';

export interface ChannelOptions {
  readonly bus: Bus;
  readonly clock: Clock;
  readonly counters: Counters;
  /** Called with the subscribers of an account that may have missed messages; they get nothing more. */
  readonly onHole: (subscribers: readonly Subscriber[]) => void;
  /** Called after a write that the kernel did not take whole. */
  readonly onBehind: (subscriber: Subscriber) => void;
  /** Called when messages wait for `flush`. */
  readonly onMessages: () => void;
  /** Called once, when the channel serves nobody any more: a later subscriber needs a new one. */
  readonly onEnd: () => void;
}

/** Those of an account's subscribers who see the same: one user's sessions, or (null) all. */
class Scope {
  readonly subscribers = new Set<Subscriber>();
  readonly frames: Buffer[] = [];
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
    scope.subscribers.add(subscriber);
    this.#size += 1;
  }

  remove(subscriber: Subscriber, user: string | null): void {
    const scope = this.#scopes.get(user);
    if (!scope?.subscribers.delete(subscriber)) return;
    this.#size -= 1;
    if (scope.subscribers.size === 0) this.#scopes.delete(user);
  }

  /** Frames each message once, for all who see it. */
  messages(batch: readonly BusMessage[]): void {
    if (this.#size === 0) return;
    if (this.#waiting === 0) this.options.onMessages();
    const everybody = this.#scopes.get(null);
    for (const { text, user } of batch) {
      const scope = user === null ? undefined : this.#scopes.get(user);
      if (!everybody && !scope) continue;
      const frame = textFrame(text);
      everybody?.frames.push(frame);
      scope?.frames.push(frame);
    }
    this.#waiting += batch.length;
  }

  /** Messages may have been lost: what came before goes out, then the channel is over for those who sat in it. */
  hole(): void {
    if (this.#ended) return;
    this.flush(this.options.clock.now());
    this.options.counters.holes += 1;
    const subscribers = [...this.#scopes.values()].flatMap((scope) => [...scope.subscribers]);
    this.#end();
    this.options.onHole(subscribers);
  }

  /** Writes what the turn has brought: one buffer a scope, one write a subscriber. */
  flush(now: number): void {
    if (this.#waiting === 0) return;
    const { counters } = this.options;
    counters.connected += this.#waiting * this.#size;
    for (const scope of this.#scopes.values()) {
      counters.filtered += (this.#waiting - scope.frames.length) * scope.subscribers.size;
      this.#write(scope, now);
    }
    this.#waiting = 0;
  }

  #write(scope: Scope, now: number): void {
    const [first] = scope.frames;
    if (!first) return;
    const messages = scope.frames.length;
    const buffer = messages === 1 ? first : Buffer.concat(scope.frames);
    scope.frames.length = 0;
    for (const subscriber of scope.subscribers) {
      subscriber.write(buffer, messages, now);
      if (subscriber.bufferedBytes > 0) this.options.onBehind(subscriber);
    }
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
