import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { VERSION } from '@device-insights/fanout/process/version';
import { analyseOffline, peaksOffline } from '@device-insights/gateway/offline';
import { runCommand } from '@device-insights/gateway/run-command';
import type { FrameSource } from '@device-insights/sdk';
import { readRecording } from '@device-insights/sdk/node';
import { Command, InvalidArgumentError } from 'commander';
import { draw } from './drawing.js';
import { CURVE, extremesBench, scoreExtreme } from './extremes-bench/bench.js';
import { motionBench, readSources, SOURCES } from './motion-bench/bench.js';
import { type LossAnswers, lossBench, scoreLosses } from './motion-bench/loss.js';
import type { Source } from './motion-bench/source.js';
import { PAGE_SEEDS, table, writePage } from './page.js';
import { scorePeaks } from './peak-score.js';
import { curveOf, manifestsIn, readBeats, readReference } from './reference.js';
import { rhythmBench } from './rhythm-bench/bench.js';
import {
  type Answer,
  type Reference,
  type Row,
  type ScoredWindow,
  scoreRecordings,
  scoreSets,
  scoreTypes,
  scoreWindows,
} from './score.js';

/** Directory of the drawings and their table; not kept in the repository. */
const DRAWINGS = fileURLToPath(new URL('../../accuracy/', import.meta.url));
/** Recordings whose motion goes on where the pulse is lost. */
const LOSS: readonly string[] = [SOURCES, 'spc-', 'wrist-'];

/** Scores the recordings of a folder; writes tables 1 to 3 and 8 of the page, and the drawings. */
async function scoreFolder(folder: string): Promise<void> {
  const files = manifestsIn(folder);
  const recordings = new Map<string, ScoredWindow[]>();
  const unseen: ScoredWindow[] = [];
  const peaks: Row[] = [];
  for (const [i, file] of files.entries()) {
    progress(`${i + 1}/${files.length} ${file}`);
    const reference = readReference(folder, file);
    const recording = await readRecording(join(folder, file));
    const answers = await analyse(recording, curveOf(file));
    recordings.set(reference.id, scoreWindows(reference, answers));
    if (hasAccelerometer(recording))
      unseen.push(...scoreWindows(reference, await analyse(withoutAccelerometer(recording), curveOf(file))));
    drawAll(reference, answers);
    peaks.push(...(await peakScore(folder, file, reference.id)));
  }
  progress('');
  const windows = [...recordings.values()].flat();
  writePage({ 1: scoreSets(windows), 2: scoreTypes(windows), 3: peaks, 8: scoreSets(unseen) });
  writeIndex(scoreRecordings(recordings));
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

/** A generated recording, and its true values. */
interface Generated {
  readonly recording: FrameSource;
  readonly reference: Reference;
}

/** Scores the benches; writes tables 4, 6, 7 and 9 if the seeds are the page's, and the drawings. */
async function scoreBenches(folder: string, seeds: readonly number[]): Promise<void> {
  const sources = await readSources(folder, SOURCES);
  const recordings = new Map<string, ScoredWindow[]>();
  const motion = await scoreBench(seeds, (seed) => motionBench(sources, seed), recordings);
  const rhythm = await scoreBench(seeds, (seed) => rhythmBench(sources, seed), recordings);
  const losses = await scoreLossBench(seeds, await readSources(folder, ...LOSS));
  const extremes = await scoreExtremesBench(seeds[0] ?? 0);
  progress('');
  if (seeds === PAGE_SEEDS) writePage({ 4: motion, 6: rhythm, 7: losses, 9: extremes });
  else console.log([motion, rhythm, losses, extremes].map(table).join('\n\n'));
  writeIndex(scoreRecordings(recordings));
}

/** The rows of one bench; adds its windows to `recordings`. */
async function scoreBench(
  seeds: readonly number[],
  bench: (seed: number) => Iterable<Generated>,
  recordings: Map<string, ScoredWindow[]>,
): Promise<Row[]> {
  const bySeed: ScoredWindow[][] = [];
  for (const seed of seeds) {
    const own: ScoredWindow[] = [];
    for (const { recording, reference } of bench(seed)) {
      progress(reference.id);
      const answers = await analyse(recording, null);
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

async function analyse(recording: FrameSource, curve: readonly number[] | null): Promise<Answer[]> {
  const answers: Answer[] = [];
  for await (const { type, value, confidence, actual_end } of analyseOffline(recording, curve))
    answers.push({ type, value, confidence, actual_end });
  return answers;
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

interface Options {
  readonly recordings: string;
  readonly bench?: boolean;
  readonly seed?: readonly number[];
}

const command = new Command('accuracy')
  .version(VERSION)
  .description(
    'Scores the signal core on recordings with references, puts the tables into dsp-wasm/ACCURACY.md, and draws each recording.',
  )
  .requiredOption('--recordings <folder>', 'the recordings (sdk/RECORDINGS.md), with ID.ref.csv and ID.beats.csv')
  .option(
    '--bench',
    'score generated recordings instead: with the motion of the recordings troika-*, an irregular rhythm, or extreme values',
  )
  .option('--seed <number...>', 'seeds of the generated recordings (default: those of the page)', parseSeed)
  .action(({ recordings, bench = false, seed = PAGE_SEEDS }: Options) =>
    bench ? scoreBenches(resolve(recordings), seed) : scoreFolder(resolve(recordings)),
  );

runCommand(command);
