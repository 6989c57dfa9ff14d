import { once } from 'node:events';
import { VERSION } from '@device-insights/fanout/process/version';
import type { FrameSource } from '@device-insights/sdk';
import { readRecording } from '@device-insights/sdk/node';
import { Command, InvalidArgumentError } from 'commander';
import type { RPeak } from '../analysis/analysis.js';
import type { CoreLoad } from '../analysis/core-load.js';
import { analyseOffline, oneSession, peaksOffline } from './offline.js';
import { followOutput } from './output.js';
import { runCommand } from './run-command.js';

/** Parses `a,b` or `a,b,c`. */
function parseCurve(text: string): number[] {
  const curve = text.split(',').map((part) => (part.trim() === '' ? Number.NaN : Number(part)));
  if (curve.length < 2 || curve.length > 3 || !curve.every(Number.isFinite))
    throw new InvalidArgumentError('It must be two or three numbers, such as 110,-25 (SpO2 = a + b R + c R²).');
  return curve;
}

interface Options {
  readonly spo2Curve?: number[];
  readonly peaks?: boolean;
  readonly load?: boolean;
}

async function analyze(file: string, options: Options): Promise<void> {
  const recording = await readRecording(file);
  const load = await oneSession();
  const rows = options.peaks ? peakRows(recording) : analyseOffline(recording, options.spo2Curve ?? null, load);
  for await (const row of rows)
    if (!process.stdout.write(`${JSON.stringify(row)}\n`)) await once(process.stdout, 'drain');
  if (options.load) console.error(loadLine(load));
}

function loadLine({ core, coreSeconds, sessionSeconds }: CoreLoad): string {
  const microseconds = ((1e6 * coreSeconds) / sessionSeconds).toFixed(1);
  const filled = ((100 * core.lanes.filled) / core.lanes.points).toFixed(0);
  return `signal core: ${microseconds} us per second of data, over ${sessionSeconds.toFixed(0)} s; lanes filled: ${filled} %`;
}

/** R peaks with `t` in seconds, as in the files of a recording. */
async function* peakRows(recording: FrameSource): AsyncGenerator<RPeak> {
  for await (const { channel, t } of peaksOffline(recording)) yield { channel, t: Number((t / 1000).toFixed(4)) };
}

const command = new Command('analyze')
  .version(VERSION)
  .description(
    "Computes the insights of a recording and prints them in the stored form, one JSON object a line; the recording's t = 0 is 0 ms.",
  )
  .argument('<file>', 'the recording: its ID.json (sdk/RECORDINGS.md)')
  .option('--spo2-curve <a,b[,c]>', "the device's calibration curve, SpO2 = a + b R + c R²", parseCurve)
  .option('--peaks', 'print the R peaks of the ECG channels instead, one {channel, t} a line, t in seconds')
  .option('--load', 'print the cost of the signal core on stderr')
  .action(analyze);

followOutput(() => process.exit());

runCommand(command);
