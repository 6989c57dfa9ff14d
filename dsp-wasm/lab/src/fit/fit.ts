import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HIDDEN, observeCore, TRAITS } from '@device-insights/dsp-wasm/fit';
import { analyseOffline, CoreLoad } from '@device-insights/gateway/offline';
import { runCommand } from '@device-insights/gateway/run-command';
import type { FrameSource } from '@device-insights/sdk';
import { readRecording } from '@device-insights/sdk/node';
import { Command } from 'commander';
import { motionBench, readSources, SOURCES } from '../motion-bench/bench.js';
import { PAGE_SEEDS, writePage } from '../page.js';
import { readReference } from '../reference.js';
import { type Answer, type Reference, type ScoredWindow, scoreSets, scoreWindows } from '../score.js';
import { examplesOf, type Lesson, lessons, personOf, recordingsOf } from './examples.js';
import { fitNetwork } from './network.js';

/** Where the weights of the heart rate in motion are kept. */
const WEIGHTS = fileURLToPath(new URL('../../../assembly/pulse/motion_weights.ts', import.meta.url));

/** Fits without each person in turn, and scores that person by what was fitted: table 5 of the page. */
async function leaveOneOut(folder: string, all: readonly Lesson[]): Promise<void> {
  const files = recordingsOf(folder);
  const people = new Set(files.map(personOfFile));
  const weights = new Map([...people].map((person) => [person, fitNetwork(examplesOf(without(all, person)))]));
  const windows: ScoredWindow[] = [];
  const score = async (person: string, recording: FrameSource, reference: Reference) => {
    windows.push(...scoreWindows(reference, await answers(recording, weights.get(person) ?? [])));
    console.error(reference.id);
  };
  for (const file of files)
    await score(personOfFile(file), await readRecording(join(folder, file)), readReference(folder, file));
  const sources = await readSources(folder, SOURCES);
  for (const seed of PAGE_SEEDS) {
    for (const made of motionBench(sources, seed))
      await score(personOf(made.sources[0] ?? ''), made.recording, made.reference);
  }
  writePage({ 5: scoreSets(windows) });
}

const personOfFile = (file: string) => personOf(file.replace('.json', ''));
const without = (all: readonly Lesson[], person: string) => all.filter(({ people }) => !people.includes(person));

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

/** Puts the weights between the brackets of their file, a unit a line; with `check` only compares. */
function writeWeights(weights: readonly number[], check: boolean): void {
  const rows = Array.from({ length: HIDDEN }, (_, h) => weights.slice(h * (TRAITS + 2), (h + 1) * (TRAITS + 2)));
  const text = rows.map((row) => `  ${row.join(', ')},`).join('\n');
  const before = readFileSync(WEIGHTS, 'utf8');
  const after = before.replace(/\[\n[^\]]*\];/, `[\n${text}\n];`);
  if (check && after !== before) throw new Error(`${WEIGHTS}: these weights are not those that the command fits`);
  writeFileSync(WEIGHTS, after);
}

const command = new Command('fit')
  .description(
    'Fits the weights of the heart rate in motion into dsp-wasm/assembly/pulse/motion_weights.ts. They take effect with the next build.',
  )
  .requiredOption(
    '--recordings <folder>',
    'the recordings (sdk/RECORDINGS.md) of the sets troika, spc, wrist and maxwrist',
  )
  .option(
    '--leave-one-out',
    'fit also without each person in turn, and score that person: table 5 of dsp-wasm/ACCURACY.md',
  )
  .option('--check', 'fail if the weights in the file differ from the fitted ones')
  .action(async ({ recordings, leaveOneOut: out = false, check = false }: Options) => {
    const all = await lessonsOf(resolve(recordings));
    writeWeights(fitNetwork(examplesOf(all)), check);
    if (out) await leaveOneOut(resolve(recordings), all);
  });

interface Options {
  readonly recordings: string;
  readonly leaveOneOut?: boolean;
  readonly check?: boolean;
}

runCommand(command);
