import { once } from 'node:events';
import { VERSION } from '@device-insights/fanout/platform/version';
import {
  type CsvChannel,
  type Recording,
  RecordingError,
  readCsv,
  readRecording,
  TIME_UNITS,
  type TimeUnit,
} from '@device-insights/sdk/node';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { CoreLoad } from '../analysis/core-load.js';
import type { Beat } from '../beat.js';
import { BEAT_CSV, INSIGHT_CSV } from '../csv.js';
import type { StoredInsight } from '../insight.js';
import { type Finding, findingLine } from './findings.js';
import { analyseOffline, beatsOffline, type Outcome, oneSession, peaksOffline, type Silence } from './offline.js';
import { followOutput, runCommand } from './run-command.js';

/** Exit codes besides 0 and 1: input that cannot be used, and types of insights without readings up to the end. */
const BAD_INPUT = 2;
const SILENT = 3;

/** Parses `a,b` or `a,b,c`. */
function parseCurve(text: string): number[] {
  const curve = text.split(',').map((part) => (part.trim() === '' ? Number.NaN : Number(part)));
  if (curve.length < 2 || curve.length > 3 || !curve.every(Number.isFinite))
    throw new InvalidArgumentError('It must be two or three numbers, such as 110,-25 (SpO2 = a + b R + c R²).');
  return curve;
}

function parseRate(text: string): number {
  const rate = Number(text);
  if (!(rate >= 0.1 && rate <= 10_000)) throw new InvalidArgumentError('It must be a rate in Hz, from 0.1 to 10000.');
  return rate;
}

/** Parses `MODALITY` or `MODALITY=COLUMN,…`, and appends it to the channels so far. */
function parseChannel(text: string, before: readonly CsvChannel[] = []): CsvChannel[] {
  const [, modality, columns] = /^([a-z0-9_]{1,64})(?:=(.+))?$/.exec(text) ?? [];
  if (modality === undefined)
    throw new InvalidArgumentError('It must be a modality such as ppg_green, or one with its columns: accel=x,y,z.');
  return [...before, { modality, ...(columns !== undefined && { columns: columns.split(',') }) }];
}

interface Options {
  readonly rate?: number;
  readonly modality?: readonly CsvChannel[];
  readonly timeColumn?: string;
  readonly timeUnit?: TimeUnit;
  readonly spo2Curve?: number[];
  readonly peaks?: boolean;
  readonly beats?: boolean;
  readonly json?: boolean;
  readonly csv?: boolean;
  readonly load?: boolean;
}

async function analyze(file: string, options: Options): Promise<void> {
  const recording = await open(file, options);
  if (options.peaks) return printPeaks(recording);
  if (options.beats) return printBeats(recording, options);
  const load = await oneSession();
  const insights = analyseOffline(recording, options.spo2Curve ?? null, load);
  const { findings, silences } = await printInsights(insights, options);
  report(findings);
  for (const silence of silences) console.error(silenceLine(silence));
  const isUnused = findings.some(({ code }) => code === 'not_analysed');
  if (isUnused || silences.length > 0) process.exitCode ??= SILENT;
  if (options.load) console.error(loadLine(load));
}

/** Opens a recording, or a plain CSV if its channels are given. */
async function open(file: string, options: Options): Promise<Recording> {
  const { rate, modality: channels, timeColumn, timeUnit } = options;
  if (rate !== undefined && channels !== undefined) {
    if (timeColumn === undefined)
      console.error('without --time-column, times come from the column t; without that column, rows are evenly spaced');
    return readCsv(file, {
      sampleRateHz: rate,
      channels,
      ...(timeColumn !== undefined && { timeColumn }),
      ...(timeUnit !== undefined && { timeUnit }),
    });
  }
  if (rate !== undefined || channels !== undefined || timeColumn !== undefined || file.endsWith('.csv'))
    throw new RecordingError(`${file}: a CSV without a manifest needs --rate and --modality`);
  return readRecording(file);
}

/** Prints the insights in the chosen form, and returns the outcome. */
async function printInsights(
  insights: AsyncGenerator<StoredInsight, Outcome>,
  { json, csv }: Options,
): Promise<Outcome> {
  if (csv) {
    await print(INSIGHT_CSV.header);
    return forEach(insights, (insight) => print(INSIGHT_CSV.line(insight)));
  }
  if (!json) return forEach(insights, (insight) => print(`${JSON.stringify(insight)}\n`));
  const all: StoredInsight[] = [];
  const outcome = await forEach(insights, (insight) => void all.push(insight));
  const [no_reading, notices] = [true, false].map((wanted) =>
    outcome.findings.filter(({ code }) => (code === 'no_reading') === wanted),
  );
  await print(`${JSON.stringify({ insights: all, notices, no_reading })}\n`);
  return outcome;
}

/** Prints the R peaks, with `t` in seconds, as in the files of a recording. */
async function printPeaks(recording: Recording): Promise<void> {
  const channels = [...recording.deviceModel.modality_channels.entries()];
  const others = channels.filter(([, { modality }]) => modality !== 'ecg');
  const names = others.map(([index, { modality }]) => `${index} (${modality})`).join(', ');
  if (others.length === channels.length)
    throw new RecordingError(
      `--peaks prints the R peaks of ECG channels; the recording has only the channels ${names}`,
    );
  const peaks = peaksOffline(recording);
  let count = 0;
  const findings = await forEach(peaks, ({ channel, t }) => {
    count++;
    return print(`${JSON.stringify({ channel, t: Number((t / 1000).toFixed(4)) })}\n`);
  });
  report(findings);
  if (others.length > 0) console.error(`only ECG channels have R peaks; without peaks: ${names}`);
  if (count > 0) return;
  console.error('no R peak was found');
  process.exitCode ??= SILENT;
}

/** Prints the beats in the chosen form, with `t` in ms, as REST gives them. */
async function printBeats(recording: Recording, { json, csv }: Options): Promise<void> {
  if (csv) await print(BEAT_CSV.header);
  const all: Beat[] = [];
  const findings = await forEach(beatsOffline(recording), (beat) => {
    all.push(beat);
    if (!json) return print(csv ? BEAT_CSV.line(beat) : `${JSON.stringify(beat)}\n`);
  });
  if (json) await print(`${JSON.stringify(all)}\n`);
  report(findings);
  if (all.length > 0) return;
  console.error('no beat was found: beats come from channels with the modality ecg, ppg, ppg_green, ppg_red or ppg_ir');
  process.exitCode ??= SILENT;
}

/** Passes each yielded value to `take`; returns the generator's return value. */
async function forEach<T, R>(items: AsyncGenerator<T, R>, take: (item: T) => Promise<void> | void): Promise<R> {
  for (;;) {
    const { done, value } = await items.next();
    if (done) return value;
    await take(value);
  }
}

async function print(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain');
}

function report(findings: readonly Finding[]): void {
  for (const finding of findings) console.error(findingLine(finding));
}

function silenceLine({ type, after, end }: Silence): string {
  if (after === null) return `${type}: the recording has no reading`;
  return `${type}: no reading after ${after / 1000} s, but the data end at ${(end / 1000).toFixed(1)} s`;
}

function loadLine({ core, coreSeconds, sessionSeconds }: CoreLoad): string {
  const microseconds = ((1e6 * coreSeconds) / sessionSeconds).toFixed(1);
  const filled = ((100 * core.lanes.filled) / core.lanes.points).toFixed(0);
  return `signal core: ${microseconds} us per second of data, over ${sessionSeconds.toFixed(0)} s; lanes filled: ${filled} %`;
}

const command = new Command('analyze')
  .version(VERSION)
  .description(
    `Computes the insights of a recording and prints them in the stored form, one JSON object a line; the recording's t = 0 is 0 ms.
Prints on stderr what the service would report to the device: a line for each notice, with the row and time at which it is first seen.
Exit code 0: each of hr, spo2 and rr that the channels allow has readings up to the end; 3: one has none, or stops more than its window
before the end of the data; 2: the recording cannot be used; 1: any other failure.`,
  )
  .argument('<file>', 'the recording: its ID.json (sdk/RECORDINGS.md), or a CSV file with --rate and --modality')
  .option('--rate <hz>', 'a CSV without a manifest: its sample rate', parseRate)
  .option(
    '--modality <name[=column,…]>',
    'a CSV without a manifest: a channel, with its columns unless one has its name or is the only one; repeat it for more channels',
    parseChannel,
  )
  .option(
    '--time-column <name>',
    'its column with the times. Default: t if there is one, otherwise rows are evenly spaced',
  )
  .addOption(new Option('--time-unit <unit>', 'unit of that column').choices(Object.keys(TIME_UNITS)).default('s'))
  .option('--spo2-curve <a,b[,c]>', "the device's calibration curve, SpO2 = a + b R + c R²", parseCurve)
  .option('--json', 'print one object {insights, notices, no_reading} instead')
  .addOption(new Option('--csv', 'print CSV instead').conflicts('json'))
  .addOption(
    new Option(
      '--peaks',
      'print the R peaks of the ECG channels instead, one {channel, t} a line, t in seconds',
    ).conflicts(['json', 'csv']),
  )
  .addOption(
    new Option(
      '--beats',
      'print the beats instead, one {t, source, quality} a line, t in ms; with --json one array, with --csv CSV',
    ).conflicts('peaks'),
  )
  .option('--load', 'print the cost of the signal core on stderr')
  .action((file: string, options: Options) =>
    analyze(file, options).catch((error: unknown) => {
      if (error instanceof RecordingError) process.exitCode ??= BAD_INPUT;
      throw error;
    }),
  );

followOutput(() => process.exit());

runCommand(command);
