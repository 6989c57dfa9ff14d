import { createRedisBus, type RedisBus } from '@device-insights/fanout/bus/redis';
import type { App } from './app.js';

/** Its type, which all clients ignore because they do not know it. */
export const BALLAST = 'ballast';

/** Messages in one publish, and bytes in one message: a kernel buffers a few MB for a socket that nobody reads. */
const MESSAGES = 20;
const BYTES = 50_000;
const silent = { info: () => {}, warn: () => {}, error: () => {} };

/**
 * Large messages on an account's channel, as another gateway might publish them, to fill the buffers of a client that
 * does not read.
 */
export class Ballast {
  #published = 0;

  private constructor(
    private readonly bus: RedisBus,
    private readonly account: string,
  ) {}

  static async open(url: string, account: string): Promise<Ballast> {
    return new Ballast(await createRedisBus({ url, log: silent }), account);
  }

  /** Publishes a megabyte; true. */
  async publish(): Promise<true> {
    const message = () => ({ type: BALLAST, session_id: BALLAST, ts: this.#published++, pad: 'x'.repeat(BYTES) });
    const texts = Array.from({ length: MESSAGES }, () => JSON.stringify(message()));
    await this.bus.publish(
      this.account,
      texts.map((text) => ({ text, user: null })),
    );
    return true;
  }

  /** Whether an app has received everything that was published. */
  isWhole(app: App): boolean {
    const shown = app.insights.filter(({ type }) => type === BALLAST).map(({ ts }) => ts);
    return shown.length === this.#published && shown.every((ts, n) => ts === n);
  }

  close(): Promise<void> {
    return this.bus.close();
  }
}
