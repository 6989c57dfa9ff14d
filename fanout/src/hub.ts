import { Channel, type ChannelOptions } from './channel.js';
import type { KeyHolder } from './keys.js';
import { Seat } from './seat.js';
import type { Subscriber } from './subscriber.js';

export interface HubOptions extends Omit<ChannelOptions, 'onMessages' | 'onEnd'> {
  /** How long messages are gathered before they go out, ms; 0: to the end of the turn of the event loop. */
  readonly flushMs: number;
}

/** The accounts that somebody on this node listens to, one channel each. */
export class Hub {
  readonly #channels = new Map<string, Channel>();
  readonly #pending = new Set<Channel>();

  constructor(private readonly options: HubOptions) {}

  /** Reserves a place: the account's upstream subscription lives as long as somebody holds one. */
  reserve(holder: KeyHolder, subscriber: Subscriber): Seat {
    const channel = this.#channels.get(holder.account) ?? this.#open(holder.account);
    return new Seat(channel, subscriber, holder.user);
  }

  #open(account: string): Channel {
    const channel: Channel = new Channel(account, {
      ...this.options,
      onMessages: () => this.#schedule(channel),
      onEnd: () => this.#end(account, channel),
    });
    this.#channels.set(account, channel);
    return channel;
  }

  /** What piles up until the flush is one buffer, and one write for each subscriber. */
  #schedule(channel: Channel): void {
    const { flushMs, clock } = this.options;
    if (this.#pending.size === 0) {
      if (flushMs > 0) clock.after(flushMs, () => this.#flush());
      else setImmediate(() => this.#flush());
    }
    this.#pending.add(channel);
  }

  #flush(): void {
    const channels = [...this.#pending];
    this.#pending.clear();
    const now = this.options.clock.now();
    for (const channel of channels) channel.flush(now);
  }

  #end(account: string, channel: Channel): void {
    if (this.#channels.get(account) === channel) this.#channels.delete(account);
  }
}
