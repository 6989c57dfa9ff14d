import type { Device } from '../device.js';
import { FAULT_FORMS, parseFaults } from '../fault-text.js';
import type { FrameSource } from '../frame.js';
import { play } from '../playback.js';
import { readRecording } from '../recording.js';
import { simulate } from '../simulator.js';
import { type Arguments, UsageError } from './arguments.js';
import type { Command, Surroundings } from './command.js';

const WAY = {
  device: { type: 'string' },
  model: { type: 'string' },
  speed: { type: 'string' },
  seconds: { type: 'string' },
} as const;
/** Data time that a source without an end may play ahead of real time, ms: a day. */
const ENDLESS_MS = 86_400_000;
/** How long the end of a session may take once the command is told to stop, ms. */
const END_WITHIN_MS = 5000;
/** Between two lines of progress, ms. */
const PROGRESS_MS = 5000;

export const simulateCommand: Command = {
  name: 'simulate',
  usage: `simulate [--hr N] [--rr N] [--spo2 N] [--seed N] [--fault FAULT]… [--device ID] [--model ID] [--speed X] [--seconds N]
      Streams a simulated wearable. FAULT: ${FAULT_FORMS}`,
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
  usage: `stream FILE.json [--device ID] [--model ID] [--speed X] [--seconds N]
      Streams a recording (RECORDINGS.md).`,
  options: WAY,
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
  const deviceModelId =
    args.text('model') ?? (await client.deviceModels.create(source.deviceModel, { signal: stop })).id;
  const device = client.device({ deviceId: args.text('device') ?? source.id, deviceModelId });
  const { session_id } = await device.ready();
  tell(`session ${session_id} of device ${args.text('device') ?? source.id}, model ${deviceModelId}`);
  const progress = setInterval(() => tell(progressLine(device)), PROGRESS_MS);
  try {
    const startTime = Date.now() - (speed > 1 ? lengthMs * (1 - 1 / speed) : 0);
    await play(source, device, { speed, seconds, startTime, signal: stop });
    await end(device, stop);
  } finally {
    clearInterval(progress);
    device.close();
  }
  tell(`${progressLine(device)}; the session has ended`);
}

/** Ends the session, however long the service is away; once it is told to stop, it waits for a short time only. */
async function end(device: Device, stop: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let startTimer = () => {};
  const late = new Promise<never>((_, reject) => {
    const text = 'the service cannot be reached: the session was not ended here and closes by itself';
    startTimer = () => {
      timer = setTimeout(() => reject(new Error(text)), END_WITHIN_MS);
    };
  });
  if (stop.aborted) startTimer();
  else stop.addEventListener('abort', startTimer);
  try {
    await Promise.race([device.end(), late]);
  } finally {
    stop.removeEventListener('abort', startTimer);
    clearTimeout(timer);
  }
}

function progressLine({ counters, connected }: Device): string {
  const { framesSent, framesRefused, samplesDropped, reconnects } = counters;
  const faults = [
    framesRefused && `${framesRefused} refused`,
    samplesDropped && `${samplesDropped} samples dropped`,
    reconnects && `${reconnects} reconnects`,
  ];
  return [`${framesSent} frames sent`, ...faults.filter(Boolean), ...(connected ? [] : ['not connected'])].join(', ');
}
