import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Core, createCore } from '@device-insights/dsp-wasm';
import { readTables } from '@device-insights/dsp-wasm/tuning';
import { VERSION } from '@device-insights/fanout/platform/version';
import { peaksOffline } from '@device-insights/gateway/offline';
import { runCommand } from '@device-insights/gateway/run-command';
import type { FrameSource } from '@device-insights/sdk';
import { readRecording } from '@device-insights/sdk/node';
import { Command, InvalidArgumentError } from 'commander';
import { analyse } from './analyse.js';
import { scoreMarks } from './beats/marks.js';
import { type Minute, minutes } from './beats/minutes.js';
import { scoreRhythm, scoreSameRhythm, scoreVariability } from './beats/score.js';
import { draw } from './drawing.js';
import { CURVE, extremesBench, scoreExtreme } from './extremes-bench/bench.js';
import { leftOutCores, readLeftOut } from './fit/left-out.js';
import { motionBench, readSources, SOURCES } from './motion-bench/bench.js';
import { type LossAnswers, lossBench, scoreLosses } from './motion-bench/loss.js';
import type { Source } from './motion-bench/source.js';
import { PAGE_SEEDS, type Tables, table, writePage } from './page.js';
import { scorePeaks } from './peak-score.js';
import { personOf } from './people.js';
import { curveOf, manifestsIn, readBeats, readReference } from './reference.js';
import { restBench } from './rest-bench/bench.js';
import { rhythmBench } from './rhythm-bench/bench.js';
import {
  type Answer,
  type KnownSignal,
  type Reference,
  type Row,
  type ScoredWindow,
  scoreLeftOut,
  scoreRecordings,
  scoreSets,
  scoreTypes,
  scoreWindows,
} from './score.js';

/** Directory of the drawings and their table; not kept in the repository. */
const DRAWINGS = fileURLToPath(new URL('../../accuracy/', import.meta.url));
/** Recordings whose motion goes on where the pulse is lost. */
const LOSS: readonly string[] = [SOURCES, 'spc-', 'wrist-'];

/** Opens a core of one session for a recording of some people. */
type Open = (people: readonly string[]) => Promise<Core>;

/** Scores everything, and writes the page and the drawings. People are scored by weights that were fitted without them. */
async function writeAll(folder: string): Promise<void> {
  const open = await leftOutCores(readLeftOut(readTables().map(({ name }) => name)));
  const recordings = new Map<string, ScoredWindow[]>();
  const page = {
    ...(await scoreFolder(folder, open, recordings)),
    ...(await scoreBenches(folder, PAGE_SEEDS, open, recordings)),
    ...(await scoreMinutes(folder, open)),
  };
  progress('');
  writePage(page);
  writeIndex(scoreRecordings(recordings));
}

/** Scores the recordings of a folder: tables 1, 3 and 8 of the page. */
async function scoreFolder(folder: string, open: Open, recordings: Map<string, ScoredWindow[]>): Promise<Tables> {
  const files = manifestsIn(folder);
  const inSample: ScoredWindow[] = [];
  const unseen: ScoredWindow[] = [];
  const peaks: Row[] = [];
  for (const [i, file] of files.entries()) {
    progress(`${i + 1}/${files.length} ${file}`);
    const reference = readReference(folder, file);
    const recording = await readRecording(join(folder, file));
    const leftOut = (one: FrameSource) =>
      open([personOf(reference.id)]).then((core) => analyse(one, curveOf(file), core));
    const answers = await leftOut(recording);
    recordings.set(reference.id, scoreWindows(reference, answers));
    inSample.push(...scoreWindows(reference, await analyse(recording, curveOf(file))));
    if (hasAccelerometer(recording))
      unseen.push(...scoreWindows(reference, await leftOut(withoutAccelerometer(recording))));
    drawAll(reference, answers);
    peaks.push(...(await peakScore(folder, file, reference.id)));
  }
  return { 1: scoreLeftOut([...recordings.values()].flat(), inSample), 3: peaks, 8: scoreSets(unseen) };
}

/** Scores variability and rhythm, what the marks can tell, and rhythm by light beside that by ECG: tables 11 to 14 of the page. */
async function scoreMinutes(folder: string, open: Open): Promise<Tables> {
  const all: Minute[] = [];
  for await (const minute of minutes(folder, PAGE_SEEDS, open)) {
    if (minute.recording !== all.at(-1)?.recording) progress(minute.recording);
    all.push(minute);
  }
  return { 11: scoreVariability(all), 12: scoreRhythm(all), 13: scoreMarks(folder, all), 14: scoreSameRhythm(all) };
}

const hasAccelerometer = ({ deviceModel }: FrameSource) =>
  deviceModel.modality_channels.some(({ modality }) => modality === 'accel');

/** The same recording, whose accelerometer never sends a frame. */
function withoutAccelerometer(recording: FrameSource): FrameSource {
  const { modality_channels: channels } = recording.deviceModel;
  return {
    ...recording,
    async *frames() {
      for await (const frame of recording.frames()) if (channels[frame.channel]?.modality !== 'accel') yield frame;
    },
  };
}

/** Scores the benches: tables 4, 6, 7, 9 and 10 of the page. */
async function scoreBenches(
  folder: string,
  seeds: readonly number[],
  open: Open,
  recordings: Map<string, ScoredWindow[]>,
): Promise<Tables> {
  const sources = await readSources(folder, SOURCES);
  const score = (bench: (seed: number) => Iterable<KnownSignal>) => scoreBench(seeds, bench, open, recordings);
  return {
    4: await score((seed) => motionBench(sources, seed)),
    6: await score((seed) => rhythmBench(sources, seed)),
    7: await scoreLossBench(seeds, await readSources(folder, ...LOSS)),
    9: await scoreExtremesBench(seeds[0] ?? 0),
    10: await score(restOf),
  };
}

/** Recordings of each sensor of the rest bench, for each seed. */
const REST_COUNT = 40;

/** The rest bench; its sets are the sensors, and how much noise they have. */
function* restOf(seed: number): Generator<KnownSignal> {
  for (const { sensor, snr, reference, ...rest } of restBench(seed, REST_COUNT)) {
    const noise = snr < 0 ? 'below0dB' : snr < 10 ? '0to10dB' : 'above10dB';
    yield { ...rest, reference: { ...reference, id: `${sensor}_${noise}-${reference.id}` } };
  }
}

/** The rows of one bench; adds its windows to `recordings`. */
async function scoreBench(
  seeds: readonly number[],
  bench: (seed: number) => Iterable<KnownSignal>,
  open: Open,
  recordings: Map<string, ScoredWindow[]>,
): Promise<Row[]> {
  const bySeed: ScoredWindow[][] = [];
  for (const seed of seeds) {
    const own: ScoredWindow[] = [];
    for (const { source, reference, curve, people } of bench(seed)) {
      progress(reference.id);
      const answers = await analyse(source, curve, await open(people));
      const windows = scoreWindows(reference, answers);
      recordings.set(reference.id, windows);
      own.push(...windows);
      drawAll(reference, answers);
    }
    bySeed.push(own);
  }
  return withSeeds([...scoreSets(bySeed.flat()), ...scoreTypes(bySeed.flat())], bySeed);
}

/** The rows of the loss bench. */
async function scoreLossBench(seeds: readonly number[], sources: readonly Source[]): Promise<Row[]> {
  const all: LossAnswers[] = [];
  for (const seed of seeds) {
    for (const { what, goneAt, recording } of lossBench(sources, seed)) {
      progress(recording.id);
      const answers = await analyse(recording, null);
      all.push({ what, goneAt, answers: answers.filter(({ type }) => type === 'hr') });
    }
  }
  return scoreLosses(all);
}

/** The rows of the bench of extremes; its values do not depend on a seed, only the noise does. */
async function scoreExtremesBench(seed: number): Promise<Row[]> {
  const rows: Row[] = [];
  for (const extreme of extremesBench(seed)) {
    progress(`${extreme.kind.what} ${extreme.value}`);
    const answers: Answer[][] = [];
    for (const recording of extreme.recordings) answers.push(await analyse(recording, CURVE));
    rows.push(scoreExtreme(extreme, answers));
  }
  return rows;
}

/** Adds to each row its MAE and its share of wrong but trusted readings, for each seed. */
function withSeeds(rows: readonly Row[], bySeed: readonly (readonly ScoredWindow[])[]): Row[] {
  const seeds = bySeed.map((windows) => [...scoreSets(windows), ...scoreTypes(windows)]);
  return rows.map((row) => {
    const own = seeds.map((some) => some.find(({ what }) => what === row.what));
    const column = (name: string) => own.map((one) => one?.[name] ?? '').join(', ');
    return { ...row, 'MAE by seed': column('MAE'), 'wrong but trusted % by seed': column('wrong but trusted %') };
  });
}

/** Sensitivity, positive predictivity and F1 of the R peaks (of the first ECG channel), if the recording has marked beats. */
async function peakScore(recordings: string, file: string, id: string): Promise<Row[]> {
  const marked = readBeats(recordings, id);
  if (!marked) return [];
  const found: number[] = [];
  for await (const { t } of peaksOffline(await readRecording(join(recordings, file)))) found.push(t / 1000);
  return [{ what: id, beats: marked.length, found: found.length, ...scorePeaks(marked, found) }];
}

function drawAll(reference: Reference, answers: readonly Answer[]): void {
  mkdirSync(DRAWINGS, { recursive: true });
  for (const type of reference.types) {
    const svg = draw(reference, answers, type);
    if (svg) writeFileSync(join(DRAWINGS, `${reference.id}-${type}.svg`), svg);
  }
}

/** The table of the drawings: recordings with wrong but trusted readings first, then those with large errors. */
function writeIndex(rows: readonly Row[]): void {
  const worst = (row: Row) => 1000 * Number(row['wrong but trusted %'] ?? 0) + Number(row.MAE ?? 0);
  const linked = rows
    .toSorted((a, b) => worst(b) - worst(a))
    .map((row) => ({ ...row, what: `[${row.what}](${String(row.what).replace(' ', '-')}.svg)` }));
  const file = join(DRAWINGS, 'recordings.md');
  writeFileSync(file, `# Each recording, the worst first\n\n${table(linked)}\n`);
  console.log(`\nEach recording, drawn: ${relative(process.cwd(), file)}`);
}

function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r${text.padEnd(50)}\r`);
}

function parseSeed(text: string, before: readonly number[] = []): number[] {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number of at most 9 digits.');
  return [...before, Number(text)];
}

/** Prints the tables of the benches with other seeds than the page's, by the weights as they are. */
async function printBenches(folder: string, seeds: readonly number[]): Promise<void> {
  const tables = await scoreBenches(folder, seeds, () => createCore({ maxSessions: 1 }), new Map());
  progress('');
  console.log(Object.values(tables).map(table).join('\n\n'));
}

interface Options {
  readonly recordings: string;
  readonly seed?: readonly number[];
}

const command = new Command('accuracy')
  .version(VERSION)
  .description(
    'Scores the signal core on recordings with references and on generated ones, writes the tables of dsp-wasm/ACCURACY.md, and draws each recording. Needs the last `npm run fit`.',
  )
  .requiredOption('--recordings <folder>', 'the recordings (sdk/RECORDINGS.md), with ID.ref.csv and ID.beats.csv')
  .option('--seed <number...>', 'print the tables of generated recordings with these seeds instead', parseSeed)
  .action(({ recordings, seed }: Options) =>
    seed ? printBenches(resolve(recordings), seed) : writeAll(resolve(recordings)),
  );

runCommand(command);
