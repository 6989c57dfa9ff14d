import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HIDDEN, observeCore, TRAITS } from '@device-insights/dsp-wasm/fit';
import type { FrameSource } from '@device-insights/sdk';
import { readRecording } from '@device-insights/sdk/node';
import { Command } from 'commander';
import { CoreLoad } from '../../analysis/core-load.js';
import { motionBench, readSources } from '../motion-bench/bench.js';
import { analyseOffline } from '../offline.js';
import { writePage } from '../page.js';
import { readReference } from '../reference.js';
import { type Answer, type ScoredWindow, scoreSets, scoreWindows } from '../score.js';
import { examplesOf, type Lesson, lessons, personOf, recordingsOf } from './examples.js';
import { fitNetwork } from './network.js';

/** Where the weights of the heart rate in motion are kept. */
const WEIGHTS = fileURLToPath(new URL('../../../../dsp-wasm/assembly/pulse/motion_weights.ts', import.meta.url));
/** Seed of the bench in the table of people left out; it is not fitted on. */
const SEED = 2001;

/** Fits without each person in turn, and scores that person by what was fitted: table 5 of the page. */
async function leaveOneOut(folder: string, all: readonly Lesson[]): Promise<void> {
  const files = recordingsOf(folder);
  const sources = await readSources(folder, 'troika-');
  const windows: ScoredWindow[] = [];
  for (const person of new Set(files.map((file) => personOf(file.replace('.json', ''))))) {
    const weights = fitNetwork(examplesOf(all.filter(({ people }) => !people.includes(person))));
    for (const file of files) {
      if (personOf(file.replace('.json', '')) !== person) continue;
      const recording = await readRecording(join(folder, file));
      windows.push(...scoreWindows(readReference(folder, file), await answers(recording, weights)));
    }
    for (const {
      sources: [id = ''],
      recording,
      reference,
    } of motionBench(sources, SEED)) {
      if (personOf(id) === person) windows.push(...scoreWindows(reference, await answers(recording, weights)));
    }
    console.error(person);
  }
  writePage({ 5: scoreSets(windows) });
}

async function lessonsOf(folder: string): Promise<Lesson[]> {
  const all: Lesson[] = [];
  for await (const lesson of lessons(folder)) all.push(lesson);
  return all;
}

async function answers(source: FrameSource, weights: readonly number[]): Promise<Answer[]> {
  const { core, setWeights } = await observeCore(() => undefined);
  setWeights(weights);
  const found: Answer[] = [];
  for await (const { type, value, confidence, actual_end } of analyseOffline(source, null, new CoreLoad(core)))
    found.push({ type, value, confidence, actual_end });
  return found;
}

/** Puts the weights between the brackets of their file, a unit a line. */
function writeWeights(weights: readonly number[]): void {
  const rows = Array.from({ length: HIDDEN }, (_, h) => weights.slice(h * (TRAITS + 2), (h + 1) * (TRAITS + 2)));
  const text = rows.map((row) => `  ${row.join(', ')},`).join('\n');
  const file = readFileSync(WEIGHTS, 'utf8').replace(/\[\n[^\]]*\];/, `[\n${text}\n];`);
  writeFileSync(WEIGHTS, file);
}

const command = new Command('fit')
  .description(
    'Fits the weights of the heart rate in motion into dsp-wasm/assembly/pulse/motion_weights.ts. They count once it is built and formatted.',
  )
  .requiredOption(
    '--recordings <folder>',
    'the recordings (sdk/RECORDINGS.md) of the sets troika, spc, wrist and maxwrist',
  )
  .option(
    '--leave-one-out',
    'fit also without each person in turn, and score that person: table 5 of dsp-wasm/ACCURACY.md',
  )
  .action(async ({ recordings, leaveOneOut: out = false }: { recordings: string; leaveOneOut?: boolean }) => {
    const all = await lessonsOf(resolve(recordings));
    writeWeights(fitNetwork(examplesOf(all)));
    if (out) await leaveOneOut(resolve(recordings), all);
  });

command.parseAsync().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
