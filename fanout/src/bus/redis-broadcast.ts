import type { Clock, Timer } from '../clock.js';
import type { RedisClient } from './redis-connection.js';
import type { RedisNodes } from './redis-nodes.js';

const RETRY_MS = 500;

/**
 * A channel that all processes hear, for what concerns no single account: plain pub/sub, which a cluster carries to every server.
 * It is followed on any server that can be reached, and on another once that one is gone.
 */
export class Broadcast {
  #client: RedisClient | undefined;
  #closed = false;
  readonly #retry: Timer;

  /** `onFollow` is called each time the channel is followed anew: what was said since it was lost has not been heard. */
  constructor(
    private readonly nodes: RedisNodes,
    private readonly name: string,
    clock: Clock,
    private readonly onText: (text: string) => void,
    private readonly onFollow: () => void = () => undefined,
  ) {
    this.#retry = clock.every(RETRY_MS, () => void this.follow());
  }

  /** Follows the channel, where it is not followed; harmless at any time. Without it the next try is due within half a second. */
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

  /** Rejects where no server can be reached. */
  async say(text: string): Promise<void> {
    await this.nodes.any().publish(this.name, text);
  }

  close(): void {
    this.#closed = true;
    this.#retry.cancel();
  }
}
