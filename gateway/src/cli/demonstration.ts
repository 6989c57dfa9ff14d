import { setTimeout } from 'node:timers/promises';
import type { DeviceInsights, FrameSource } from '@device-insights/sdk';
import { type PlaybackOptions, play, readingLine } from '@device-insights/sdk/node';

/** Maximum time for the last insights to get from the store to the subscriber, ms. */
const LAST_INSIGHTS_MS = 3000;

/**
 * Streams a source into a running service and prints each insight that a subscriber receives. At the end it ends the
 * session and waits until all its insights have been printed.
 *
 * @returns a line with the result
 * @throws the error that stopped the device or the subscriber, or the error of the service
 */
export async function showDemo(client: DeviceInsights, source: FrameSource, how: PlaybackOptions): Promise<string> {
  const live = client.live.subscribe();
  await live.subscribed();
  const { id: deviceModelId } = await client.deviceModels.create(source.deviceModel);
  const device = client.device({ deviceId: source.id, deviceModelId });
  const { session_id } = await device.ready();
  let [count, wanted] = [0, Number.POSITIVE_INFINITY];
  const received = (async () => {
    for await (const insight of live) {
      if (insight.session_id !== session_id) continue;
      console.log(readingLine(insight));
      if (++count >= wanted) return;
    }
  })();
  try {
    await Promise.race([play(source, device, how), received.then(() => new Promise<never>(() => {}))]);
    await device.end();
    // A session without data leaves nothing.
    wanted = device.counters.framesSent > 0 ? (await client.sessions.insights(session_id)).length : 0;
    if (count < wanted) await Promise.race([received, setTimeout(LAST_INSIGHTS_MS)]);
  } finally {
    device.close();
    live.close();
  }
  const { framesSent, framesRefused } = device.counters;
  return `\nended     ${framesSent} frames sent${framesRefused > 0 ? `, ${framesRefused} refused` : ''}; ${count} insights received`;
}
