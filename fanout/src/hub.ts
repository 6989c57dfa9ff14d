import type { Bus } from './bus/bus.js';
import { Channel, type ChannelHome } from './channel.js';
import type { Counters } from './counters.js';
import type { KeyHolder } from './keys/key-check.js';
import type { Clock } from './process/clock.js';
import type { Turns } from './process/turns.js';
import type { Scope } from './scope.js';
import type { Subscriber } from './subscriber.js';

interface HubOptions extends Omit<ChannelHome, 'onWaiting' | 'onEnd'> {
  readonly turns: Turns;
  /** Time for which messages are collected before they are sent, ms; 0: to the end of the turn of the event loop. */
  readonly flushMs: number;
}

/** The accounts that have listeners on this node, one channel each. */
export class Hub implements ChannelHome {
  readonly bus: Bus;
  readonly clock: Clock;
  readonly counters: Counters;
  readonly #channels = new Map<string, Channel>();
  /** The channels that collect messages until the flush. */
  #waiting = new Set<Channel>();

  constructor(private readonly options: HubOptions) {
    this.bus = options.bus;
    this.clock = options.clock;
    this.counters = options.counters;
  }

  /**
   * Reserves a place for the holder of a key: the account's upstream subscription lives as long as there are places.
   */
  reserve({ account, user }: KeyHolder): Scope {
    const channel = this.#channels.get(account) ?? new Channel(account, this);
    this.#channels.set(account, channel);
    return channel.reserve(user);
  }

  onLoss(subscribers: readonly Subscriber[]): void {
    this.options.onLoss(subscribers);
  }

  onBehind(subscriber: Subscriber): void {
    this.options.onBehind(subscriber);
  }

  /** Messages are sent at the end of the turn of the event loop, or of the time for which they are collected. */
  onWaiting(channel: Channel): void {
    const { flushMs } = this.options;
    if (flushMs === 0) {
      this.options.turns.add(channel);
      return;
    }
    if (this.#waiting.size === 0) this.clock.after(flushMs, () => this.#flush());
    this.#waiting.add(channel);
  }

  onEnd(channel: Channel): void {
    if (this.#channels.get(channel.account) === channel) this.#channels.delete(channel.account);
  }

  #flush(): void {
    for (const channel of this.#waiting) this.options.turns.add(channel);
    this.#waiting.clear();
  }
}
