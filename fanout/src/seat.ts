import type { Channel } from './channel.js';
import type { Subscriber } from './subscriber.js';

/** A subscriber's place in its account's channel, whose upstream subscription lives as long as somebody holds one. */
export class Seat {
  #taken = false;

  constructor(
    private readonly channel: Channel,
    private readonly subscriber: Subscriber,
    private readonly user: string | null,
  ) {
    channel.hold();
  }

  /** Resolves once the channel's upstream subscription is confirmed; rejects where the bus cannot give it. */
  get confirmed(): Promise<void> {
    return this.channel.confirmed;
  }

  /** From now on the subscriber gets what is published for its scope. */
  take(): void {
    this.#taken = true;
    this.channel.add(this.subscriber, this.user);
  }

  /** To be called once. */
  leave(): void {
    if (this.#taken) this.channel.remove(this.subscriber, this.user);
    this.channel.release();
  }
}
