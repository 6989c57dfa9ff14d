import { DeviceInsights, type FrameSource, type LiveInsight, type LiveSubscription } from '@device-insights/sdk';
import { play, readingLine } from '@device-insights/sdk/node';

interface Demonstration {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly source: FrameSource;
  /** Speed, as a multiple of real time. */
  readonly speed: number;
  /** Time after the first sample at which to stop; Infinity means at the end of the source. */
  readonly seconds: number;
  /** Device time of the source's t = 0, ms since the epoch. */
  readonly startTime: number;
  /** Stops the demonstration early. */
  readonly stop: AbortSignal;
  readonly print: (line: string) => void;
}

/** Maximum time for the last insights to get from the store to the subscriber, ms. */
const LAST_INSIGHTS_MS = 3000;

/**
 * Streams a source into a running service and prints each insight that a subscriber receives. At the end it ends the
 * session and waits until all its insights have been printed.
 *
 * @returns a line with the result
 * @throws the error that stopped the device or the subscriber, or the error of the service
 */
export async function showDemo(demo: Demonstration): Promise<string> {
  const { baseUrl, apiKey, source, speed, seconds, startTime } = demo;
  const client = new DeviceInsights({ baseUrl, apiKey });
  const live = client.live.subscribe();
  await live.subscribed();
  const { id: deviceModelId } = await client.deviceModels.create(source.deviceModel);
  const device = client.device({ deviceId: source.id, deviceModelId });
  const { session_id } = await device.ready();
  const printed = new Printed(live, session_id, demo.print);
  try {
    await Promise.race([play(source, device, { speed, seconds, startTime, signal: demo.stop }), printed.failed]);
    await device.end();
    // A session without data leaves nothing.
    if (device.counters.framesSent > 0) await printed.reached((await client.sessions.insights(session_id)).length);
  } finally {
    device.close();
    live.close();
  }
  const { framesSent, framesRefused } = device.counters;
  return `\nended     ${framesSent} frames sent${framesRefused > 0 ? `, ${framesRefused} refused` : ''}; ${printed.count} insights received`;
}

/** Prints the insights of a session as they arrive, and counts them. */
class Printed {
  count = 0;
  /** Rejects if the subscription fails; never resolves. */
  readonly failed: Promise<never>;
  #wake = () => {};

  constructor(live: LiveSubscription, sessionId: string, print: (line: string) => void) {
    this.failed = new Promise((_, reject) => {
      this.#readAll(live, sessionId, print).catch(reject);
    });
  }

  /** Waits, for a limited time, until `count` insights have been printed. */
  async reached(count: number): Promise<void> {
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      this.#wake();
    }, LAST_INSIGHTS_MS);
    while (this.count < count && !late)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    clearTimeout(timer);
  }

  async #readAll(live: LiveSubscription, sessionId: string, print: (line: string) => void): Promise<void> {
    for await (const insight of live) if (insight.session_id === sessionId) this.#take(insight, print);
  }

  #take(insight: LiveInsight, print: (line: string) => void): void {
    print(readingLine(insight));
    this.count++;
    this.#wake();
  }
}
