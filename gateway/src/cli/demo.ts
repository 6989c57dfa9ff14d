import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { processLog } from '@device-insights/fanout/platform/log';
import { VERSION } from '@device-insights/fanout/platform/version';
import { DeviceInsights, type FrameSource } from '@device-insights/sdk';
import { type PlaybackOptions, play, type Recording, readingLine, readRecording } from '@device-insights/sdk/node';
import { FAULT_FORMS, parseFaults, simulate } from '@device-insights/sdk/simulator';
import { Command, InvalidArgumentError, Option } from 'commander';
import { processConfig } from '../config.js';
import { newKey } from '../keys/key.js';
import { startService } from '../service.js';
import { followOutput, runAndExit } from './run-command.js';

interface Options {
  readonly recording?: string;
  readonly seconds?: number;
  readonly speed: number;
  readonly hr?: number;
  readonly rr?: number;
  readonly spo2?: number;
  readonly seed?: number;
  readonly fault: readonly string[];
}

/** Data time that a source without an end may play ahead of real time, ms: one day. */
const ENDLESS_MS = 86_400_000;
/** Maximum time for the last insights to get from the store to the subscriber, ms. */
const LAST_INSIGHTS_MS = 3000;

/** Runs the demo; resolves when it has ended, or was stopped with Ctrl-C. */
async function demo(options: Options): Promise<void> {
  const source = options.recording === undefined ? simulator(options) : await readRecording(options.recording);
  const stop = untilStopped();
  const temporary = mkdtempSync(join(tmpdir(), 'device-insights-demo-'));
  try {
    const key = newKey();
    const config = await processConfig(
      { PORT: '0', DATA_DIR: temporary, LOG_LEVEL: 'warn' },
      { MONGODB_URI: '', BOOTSTRAP_API_KEY: key },
    );
    const service = await startService(config, processLog(config.logLevel), () => undefined);
    try {
      console.log(header(source, service.url, config.dataDir, options));
      const { seconds = Number.POSITIVE_INFINITY, speed } = options;
      // A source that is played faster than real time begins in the past, so that it ends now.
      const ahead = speed > 1 ? Math.min(lengthMs(source) * (1 - 1 / speed), 1000 * seconds * (speed - 1)) : 0;
      const startTime = Date.now() - ahead;
      const client = new DeviceInsights({ baseUrl: service.url, apiKey: key });
      console.log(await showDemo(client, source, { speed, seconds, startTime, signal: stop }));
    } finally {
      await service.stop();
    }
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/**
 * Streams a source into a running service and prints each insight that a subscriber receives. At the end it ends the
 * session and waits until all its insights have been printed.
 *
 * @returns a line with the result
 * @throws the error that stopped the device or the subscriber, or the error of the service
 */
async function showDemo(client: DeviceInsights, source: FrameSource, how: PlaybackOptions): Promise<string> {
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

function simulator({ hr = 72, rr = 15, spo2 = 97, seed = 1, fault }: Options): FrameSource {
  return simulate({ hr, rr, spo2, seed, faults: parseFaults(fault) });
}

/**
 * Aborts at the first Ctrl-C or SIGTERM, or when the output takes no more; the second Ctrl-C or SIGTERM ends the process
 * at once.
 */
function untilStopped(): AbortSignal {
  const abort = new AbortController();
  followOutput(() => abort.abort());
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => abort.abort());
  return abort.signal;
}

function lengthMs(source: FrameSource | Recording): number {
  return 'manifest' in source && source.manifest.durationS !== null ? 1000 * source.manifest.durationS : ENDLESS_MS;
}

function header(
  source: FrameSource,
  url: string,
  dataDir: string,
  { recording, speed, hr = 72, rr = 15, spo2 = 97, fault }: Options,
): string {
  const channels = source.deviceModel.modality_channels.map(
    (channel) => `${channel.modality} ${channel.sample_rate_hz} Hz`,
  );
  const what = recording ?? `simulator; true values: hr ${hr} bpm, spo2 ${spo2} %, rr ${rr} brpm`;
  const faults = recording === undefined && fault.length > 0 ? `\nfaults    ${fault.join(' ')}` : '';
  return `service   ${url}, data in ${dataDir}
device    ${source.id}: ${channels.join(', ')}
streaming ${what}${speed === 1 ? '' : ` at ${speed} times real time`}${faults}
`;
}

function positive(text: string): number {
  const value = Number(text);
  if (!(value > 0 && value < Number.POSITIVE_INFINITY)) throw new InvalidArgumentError('It must be a number above 0.');
  return value;
}

function whole(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

const command = new Command('demo')
  .version(VERSION)
  .description(
    'Starts the service embedded, streams a device into it and prints the live insights as an app receives them.',
  )
  .option('--recording <file>', 'stream a recording (its ID.json, sdk/RECORDINGS.md) instead of the simulator')
  .option(
    '--seconds <n>',
    'stop this long after the first sample (default: at the end of the recording, or with Ctrl-C)',
    positive,
  )
  .option('--speed <x>', 'speed, as a multiple of real time', positive, 1)
  .option('--hr <bpm>', 'heart rate of the simulator (default: 72)', positive)
  .option('--rr <brpm>', 'respiratory rate of the simulator (default: 15)', positive)
  .option('--spo2 <percent>', 'blood oxygen of the simulator (default: 97)', positive)
  .option('--seed <n>', 'seed of the simulator (default: 1)', whole)
  .addOption(new Option('--fault <fault...>', `faults of the simulator: ${FAULT_FORMS}`).default([], 'none'))
  .action(demo);

runAndExit(command);
