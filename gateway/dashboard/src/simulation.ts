import { type Device, DeviceInsights } from '@device-insights/sdk';
import { simulate } from '@device-insights/sdk/simulator';

/** Data time that the simulator sends at once when it starts, so that readings appear at once. */
const HEAD_START_MS = 20_000;
const STEP_MS = 200;
/** A varying heart rate, as [seconds, bpm]. */
const HEART_RATE = [
  [0, 70],
  [40, 78],
  [100, 68],
  [160, 88],
  [240, 72],
] as const;

/** A simulated wearable that streams from this page, as a real one would. */
export interface Simulation {
  readonly deviceId: string;
  stop(): Promise<void>;
}

/** Creates a device model and streams until it is stopped. Rejects if the key is refused. */
export async function startSimulation(apiKey: string, onFailure: (error: Error) => void): Promise<Simulation> {
  const client = new DeviceInsights({ baseUrl: location.origin, apiKey });
  const deviceId = `browser-${Math.random().toString(36).slice(2, 6)}`;
  const source = simulate({ id: deviceId, hr: HEART_RATE });
  const { id } = await client.deviceModels.create(source.deviceModel);
  const device = client.device({ deviceId, deviceModelId: id });
  const timer = pump(source.frames(), device, onFailure);
  return {
    deviceId,
    async stop() {
      clearInterval(timer);
      await device.end();
    },
  };
}

function pump(
  frames: ReturnType<ReturnType<typeof simulate>['frames']>,
  device: Device,
  onFailure: (error: Error) => void,
) {
  const begun = Date.now() - HEAD_START_MS;
  const iterator = frames[Symbol.iterator]();
  let frame = iterator.next().value;
  const timer = window.setInterval(() => {
    try {
      while (frame && frame.at <= Date.now() - begun) {
        device.send({ channel: frame.channel, seq: frame.seq, ts: begun + frame.ts, samples: frame.samples });
        frame = iterator.next().value;
      }
    } catch (error) {
      clearInterval(timer);
      onFailure(error as Error);
    }
  }, STEP_MS);
  return timer;
}
