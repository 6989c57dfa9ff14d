import { on } from 'node:events';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import { type Constant, compileTunable, halfAndTwice, readConstants } from '@device-insights/dsp-wasm/tuning';
import { VERSION } from '@device-insights/fanout/platform/version';
import { runCommand } from '@device-insights/gateway/run-command';
import { Command, InvalidArgumentError } from 'commander';
import { writeParts } from '../page.js';
import type { Block } from './blocks.js';
import { groupsOf, isOfBench, isOfMinutes } from './cases.js';
import { report, type Trial } from './report.js';
import type { Job, Result, WorkerData } from './worker.js';

/** Scores the core at half and at twice the value of each chosen constant; writes a table for each folder of which all were tried. */
async function measure(recordings: string, perSet: number, names: readonly string[]): Promise<void> {
  const constants = readConstants();
  const isWanted = ({ folder, name, origin }: Constant) =>
    origin === 'chosen' && (names.length === 0 || names.includes(folder) || names.includes(name));
  const folders = [...new Set(constants.filter(isWanted).map(({ folder }) => folder))];
  if (folders.length === 0)
    throw new Error(`no chosen constant of the core, and no folder of them: ${names.join(' ')}`);
  const workers = startWorkers({
    bytes: await compileTunable(),
    constants,
    recordings,
    perSet,
    benches: folders.some((folder) => groupsOf(folder).some(isOfBench)),
  });
  try {
    for (const folder of folders) {
      const own = constants.filter((constant) => constant.folder === folder && isWanted(constant));
      const text = await reportOf(workers, folder, constants, own);
      const whole = constants.every((one) => one.folder !== folder || one.origin !== 'chosen' || own.includes(one));
      if (whole) writeParts('SENSITIVITY.md', new Map([[folder, text]]));
      else console.log(text);
    }
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
}

function startWorkers(data: Omit<WorkerData, 'share'>): Worker[] {
  const count = availableParallelism();
  const file = new URL('worker.js', import.meta.url);
  return Array.from(
    { length: count },
    (_, index) => new Worker(file, { workerData: { ...data, share: { index, count } } }),
  );
}

async function reportOf(
  workers: readonly Worker[],
  folder: string,
  constants: readonly Constant[],
  own: readonly Constant[],
): Promise<string> {
  const groups = groupsOf(folder);
  const values = own.map((constant) => ({ constant, ...halfAndTwice(constant) }));
  const common = { groups, ofMinutes: isOfMinutes(folder) };
  const jobs: Job[] = [
    { ...common, changed: null },
    ...values.flatMap(({ constant, half, twice }) =>
      [half, twice].map((value) => ({ ...common, changed: { index: constants.indexOf(constant), value } })),
    ),
  ];
  const shares = await Promise.all(workers.map((worker) => resultsOf(worker, jobs, folder)));
  const results = jobs.map((_, i) => joined(shares.map((share) => share[i] ?? null)));
  const base = results[0];
  if (!base) throw new Error('the core failed with the constants as they are');
  const trials = values.map(
    (value, i): Trial => ({ ...value, atHalf: results[1 + 2 * i] ?? null, atTwice: results[2 + 2 * i] ?? null }),
  );
  return report(base, groups, trials);
}

/** The results of the jobs, in their order. @throws what the worker throws */
async function resultsOf(worker: Worker, jobs: readonly Job[], what: string): Promise<Result[]> {
  const messages = on(worker, 'message');
  for (const job of jobs) worker.postMessage(job);
  const results: Result[] = [];
  for await (const [result] of messages) {
    results.push(result);
    if (process.stderr.isTTY) process.stderr.write(`\r${what} ${results.length}/${jobs.length} `);
    if (results.length === jobs.length) break;
  }
  return results;
}

function joined(shares: readonly Result[]): Block[] | null {
  const blocks: Block[] = [];
  for (const share of shares) {
    if (!share) return null;
    blocks.push(...share);
  }
  return blocks;
}

function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (!(seconds > 0)) throw new InvalidArgumentError('It must be a positive number.');
  return seconds;
}

const command = new Command('sensitivity')
  .version(VERSION)
  .description(
    'Scores the signal core at half and at twice the value of each of its chosen constants, and puts the tables into dsp-wasm/SENSITIVITY.md.',
  )
  .argument('[names...]', 'folders of constants or single constants, whose rows are only printed (default: all)')
  .requiredOption('--recordings <folder>', 'the recordings (sdk/RECORDINGS.md), with ID.ref.csv')
  .option('--seconds <number>', 'longest part of each set of recordings that is used, s', parseSeconds, 1200)
  .action((names: readonly string[], { recordings, seconds }: { recordings: string; seconds: number }) =>
    measure(resolve(recordings), seconds, names),
  );

runCommand(command);
