import type { BusListener, BusMessage } from '../bus.js';

/** The sharded channel of an account. */
export function channelOf(account: string): string {
  return `di:live:${account}`;
}

/** One account as this process follows it: its channel, its listeners, and the last number of each publisher. */
export class Upstream {
  readonly channel: string;
  readonly listeners = new Set<BusListener>();
  /** Last number seen, by publisher. */
  readonly numbers = new Map<string, number>();
  /** The server on which the channel is subscribed. */
  url = '';
  /** Time at which the subscription was confirmed, monotonic ms. */
  since = Number.POSITIVE_INFINITY;
  /** Resolves once the subscription is confirmed. */
  confirmed: Promise<void> = Promise.resolve();
  /** It serves nobody any more: it was cancelled, or its listeners have been told of a loss. */
  over = false;

  constructor(
    readonly account: string,
    private readonly take: (upstream: Upstream, text: string) => void,
  ) {
    this.channel = channelOf(account);
  }

  /** Receives the channel's messages. */
  readonly onText = (text: string): void => {
    if (!this.over) this.take(this, text);
  };

  deliver(messages: readonly BusMessage[]): void {
    for (const listener of [...this.listeners]) if (this.listeners.has(listener)) listener.messages(messages);
  }
}
