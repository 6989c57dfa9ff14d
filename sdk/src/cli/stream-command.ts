import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { DeviceInsights } from '../client.js';
import type { Device } from '../device/device.js';
import type { DeviceModelDraft, FrameSource } from '../device/frame.js';
import type { NoticeMessage } from '../device/messages.js';
import { play } from '../recording/playback.js';
import { readRecording } from '../recording/recording.js';
import { quote } from '../rest/api-error.js';
import { FAULT_FORMS, parseFaults } from '../simulator/fault-text.js';
import { simulate } from '../simulator/simulator.js';
import { type Arguments, UsageError } from './arguments.js';
import { type Command, type Surroundings, tellStatus } from './command.js';

const WAY = {
  device: { type: 'string' },
  model: { type: 'string' },
  speed: { type: 'string' },
  seconds: { type: 'string' },
} as const;
/** Data time that a source without an end may play ahead of real time, ms: one day. */
const ENDLESS_MS = 86_400_000;
/** Time that the end of a session may take after the command is asked to stop, ms. */
const END_WITHIN_MS = 5000;
/** Interval of the progress lines, ms. */
const PROGRESS_MS = 5000;

export const simulateCommand: Command = {
  name: 'simulate',
  usage: `simulate [--hr N] [--rr N] [--spo2 N] [--seed N] [--fault FAULT]… [--device ID] [--model MODEL] [--speed X] [--seconds N]
      Streams a simulated wearable. Without --model it uses the account's device model that equals its own, or creates it. FAULT: ${FAULT_FORMS}`,
  options: {
    ...WAY,
    hr: { type: 'string' },
    rr: { type: 'string' },
    spo2: { type: 'string' },
    seed: { type: 'string' },
    fault: { type: 'string', multiple: true },
  },
  run: (args, surroundings) => {
    const [hr, rr, spo2, seed] = [
      args.positive('hr') ?? 72,
      args.positive('rr') ?? 15,
      args.positive('spo2') ?? 97,
      args.positive('seed') ?? 1,
    ];
    return streamSource(
      simulate({ hr, rr, spo2, seed, faults: parseFaults(args.texts('fault')) }),
      ENDLESS_MS,
      args,
      surroundings,
    );
  },
};

export const streamCommand: Command = {
  name: 'stream',
  usage: `stream FILE.json [--device ID] [--model MODEL] [--speed X] [--seconds N]
      Streams a recording (RECORDINGS.md). Without --model it uses or creates a device model, as simulate does.`,
  options: WAY,
  takes: 1,
  run: async (args, surroundings) => {
    const file = args.positionals[0];
    if (file === undefined) throw new UsageError('stream needs a recording: its ID.json');
    const recording = await readRecording(file);
    const { durationS } = recording.manifest;
    return streamSource(recording, durationS === null ? ENDLESS_MS : 1000 * durationS, args, surroundings);
  },
};

async function streamSource(
  source: FrameSource,
  lengthMs: number,
  args: Arguments,
  { client, tell, stop }: Surroundings,
): Promise<void> {
  const [speed, seconds] = [args.positive('speed') ?? 1, args.positive('seconds') ?? Number.POSITIVE_INFINITY];
  const deviceModelId = args.text('model') ?? (await modelOf(source, client, stop));
  const device = client.device({
    deviceId: args.text('device') ?? source.id,
    deviceModelId,
    onNotice: (notice) => tell(noticeLine(notice)),
    onStatus: tellStatus(tell),
  });
  const { session_id } = await device.ready().catch((error: Error) => {
    device.close();
    throw error;
  });
  tell(`session ${session_id} of device ${args.text('device') ?? source.id}, model ${deviceModelId}`);
  const progress = setInterval(() => tell(progressLine(device)), PROGRESS_MS);
  try {
    // A source that is played faster than real time begins in the past, so that it ends now.
    const ahead = speed > 1 ? Math.min(lengthMs * (1 - 1 / speed), 1000 * seconds * (speed - 1)) : 0;
    const startTime = Date.now() - ahead;
    await play(source, device, { speed, seconds, startTime, signal: stop });
    await Promise.race([device.end(), endedLate(stop)]);
  } finally {
    clearInterval(progress);
    device.close();
  }
  tell(`${progressLine(device)}; the session has ended`);
}

/** The account's device model that equals the source's: from an earlier run, or a new one. */
async function modelOf({ deviceModel }: FrameSource, client: DeviceInsights, signal: AbortSignal): Promise<string> {
  const known = (await client.deviceModels.list({ signal })).find((model) =>
    isDeepStrictEqual(draftOf(model), draftOf(deviceModel)),
  );
  return (known ?? (await client.deviceModels.create(deviceModel, { signal }))).id;
}

/** The fields of a device model without its ids and times. */
function draftOf({ name, description, firmware_version, modality_channels, spo2_calibration }: DeviceModelDraft) {
  const channels = modality_channels.map(({ modality, sample_rate_hz, bit_depth, num_channels }) => ({
    modality,
    sample_rate_hz,
    bit_depth,
    num_channels,
  }));
  const { a, b, c = 0 } = spo2_calibration ?? {};
  return { name, description, firmware_version, channels, calibration: [a, b, c] };
}

/** Rejects some time after the command is asked to stop: until then a session can end, however long the service is away. */
async function endedLate(stop: AbortSignal): Promise<never> {
  if (!stop.aborted) await once(stop, 'abort');
  await setTimeout(END_WITHIN_MS, undefined, { ref: false });
  throw new Error('the service cannot be reached: the session has not been ended, and the service will close it');
}

function noticeLine({ code, channel, detail, over }: NoticeMessage): string {
  return `notice ${code}${channel === undefined ? '' : ` on channel ${channel}`}${over ? ', over' : ''}: ${quote(detail)}`;
}

function progressLine({ counters, state }: Device): string {
  const { framesSent, framesRefused, samplesDropped, reconnects } = counters;
  const faults = [
    framesRefused && `${framesRefused} refused`,
    samplesDropped && `${samplesDropped} samples dropped`,
    reconnects && `${reconnects} reconnects`,
  ];
  return [
    `${framesSent} frames sent`,
    ...faults.filter(Boolean),
    ...(state === 'live' || state === 'closed' ? [] : ['not connected']),
  ].join(', ');
}
