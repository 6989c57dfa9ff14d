import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { createCore } from '@device-insights/dsp-wasm';
import { runCommand } from '@device-insights/gateway/run-command';
import { Command } from 'commander';
import { LAB } from '../fit/left-out.js';
import { table, writeParts } from '../page.js';
import { grouped } from '../score.js';
import { type Minute, minutes, modelOf } from './minutes.js';

/** Each so many of the minutes with known variability are compared, as they overlap. */
const EVERY = 3;

/** Compares the variability of the core with that of NeuroKit2 on the same beats; writes the table into ACCURACY.md. */
async function compare(recordings: string): Promise<void> {
  const known: Minute[] = [];
  for await (const minute of minutes(recordings, [], () => createCore({ maxSessions: 1 })))
    if (modelOf(minute) !== 'rhythm' && minute.rmssd !== null && minute.answer.estimate) known.push(minute);
  const compared = known.filter((_, i) => i % EVERY === 0);
  const theirs = byNeuroKit(compared.map(({ beats }) => beats));
  const differences = compared.map(({ estimator, answer }, i) => ({
    estimator,
    off: Math.abs((answer.estimate?.value ?? Number.NaN) - (theirs[i] ?? Number.NaN)),
  }));
  const rows = [...grouped(differences, ({ estimator }) => estimator)].map(([what, some]) => {
    const sorted = some.map(({ off }) => off).toSorted((a, b) => a - b);
    const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))]?.toFixed(2) ?? '';
    const within = (100 * sorted.filter((off) => off <= 1).length) / sorted.length;
    return {
      what,
      minutes: some.length,
      'median ms': at(0.5),
      '95 % ms': at(0.95),
      'within 1 ms %': within.toFixed(1),
    };
  });
  writeParts('ACCURACY.md', new Map([['neurokit', table(rows)]]));
}

/** RMSSD of each list of beats, ms. @throws Error if Python or NeuroKit2 fails */
function byNeuroKit(beats: readonly (readonly number[])[]): number[] {
  const python = join(LAB, '.venv-neurokit/bin/python');
  const { status, error, stdout } = spawnSync(python, [join(LAB, 'python/neurokit.py')], {
    input: JSON.stringify(beats),
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  if (error) throw new Error(`${python} cannot be started: npm run compare makes it`, { cause: error });
  if (status !== 0) throw new Error('NeuroKit2 failed');
  return JSON.parse(stdout);
}

const command = new Command('compare')
  .description(
    'Compares the variability of the signal core with that of NeuroKit2 on the same beats, and writes the table into dsp-wasm/ACCURACY.md.',
  )
  .requiredOption('--recordings <folder>', 'the recordings (sdk/RECORDINGS.md), with ID.beats.csv')
  .action(({ recordings }: { recordings: string }) => compare(resolve(recordings)));

runCommand(command);
