import type { Clock, Timer } from '../../platform/clock.js';
import type { RedisClient } from './connection.js';
import type { RedisNodes } from './nodes.js';

const RETRY_MS = 500;

/**
 * A channel that all processes follow, for messages that concern no single account: plain pub/sub, which a cluster
 * carries to every server. It is followed on any server that can be reached, and on another one after that one is lost.
 */
export class Broadcast {
  #client: RedisClient | undefined;
  #closed = false;
  readonly #retry: Timer;

  /** `onFollow` is called each time the channel is followed again: messages since its loss have been missed. */
  constructor(
    private readonly nodes: RedisNodes,
    private readonly name: string,
    clock: Clock,
    private readonly onText: (text: string) => void,
    private readonly onFollow: () => void = () => undefined,
  ) {
    this.#retry = clock.every(RETRY_MS, () => void this.follow());
  }

  /**
   * Follows the channel, if it is not followed; harmless at any time. Without this call the next attempt follows within
   * half a second.
   */
  async follow(): Promise<void> {
    if (this.#closed || this.#client?.isReady) return;
    try {
      const client = this.nodes.any();
      this.#client = client;
      await client.subscribe(this.name, this.onText);
      this.onFollow();
    } catch {
      this.#client = undefined;
    }
  }

  /** Rejects if no server can be reached. */
  async say(text: string): Promise<void> {
    await this.nodes.any().publish(this.name, text);
  }

  close(): void {
    this.#closed = true;
    this.#retry.cancel();
  }
}
