import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type ConfidenceModel, FEATURES } from '@device-insights/dsp-wasm';
import { runCommand } from '@device-insights/gateway/run-command';
import { Command, Option } from 'commander';
import { dumpMinutes, MINUTE_MODELS } from '../beats/fit.js';
import { fitConstants } from './constants.js';
import { dump } from './dump.js';
import { FOLDER, LAB, type LeftOut, leftOutCores, readLeftOut } from './left-out.js';
import { dumpLessons } from './lessons.js';
import { signals } from './signals.js';

const MODELS = Object.keys(FEATURES) as ConfidenceModel[];
const PYTHON = join(LAB, '.venv/bin/python');

function python(what: 'network' | 'models', ...models: string[]): void {
  const { status, error } = spawnSync(PYTHON, [join(LAB, 'python/fit.py'), what, FOLDER, ...models], {
    stdio: 'inherit',
  });
  if (error) throw new Error(`${PYTHON} cannot be started: run npm run setup -w dsp-wasm/lab`, { cause: error });
  if (status !== 0) throw new Error('the fit failed');
}

/**
 * Fits the network first. The confidence of a person's readings is then fitted on what a network says that has not seen the person, as
 * it would be of a new wearer. The other models hardly depend on the network.
 */
async function fit(recordings: string, { network, model: models }: Options): Promise<void> {
  mkdirSync(FOLDER, { recursive: true });
  if (network) {
    await dumpLessons(recordings, FOLDER);
    python('network');
  }
  const open = await leftOutCores(models.includes('hr_ppg_motion') ? motionAlone(readLeftOut(['motion'])) : {});
  const inMotion = models.some((model) => model.startsWith('hr_ppg'));
  const ofMinutes = models.filter((model) => MINUTE_MODELS.some((one) => one === model));
  const others = models.filter((model) => !ofMinutes.includes(model));
  if (others.length > 0) await dump(signals(recordings, inMotion), FOLDER, others, open);
  if (ofMinutes.length > 0) await dumpMinutes(recordings, FOLDER, ofMinutes, open);
  python('models', ...models);
}

const motionAlone = (leftOut: LeftOut): LeftOut =>
  Object.fromEntries(Object.entries(leftOut).flatMap(([person, { motion }]) => (motion ? [[person, { motion }]] : [])));

interface Options {
  readonly network: boolean;
  readonly model: readonly ConfidenceModel[];
}

interface Others {
  readonly recordings: string;
  readonly constants?: true | readonly string[];
}

const command = new Command('fit')
  .description(
    'Fits all tables of weights (dsp-wasm/assembly/*/*_weights.ts) on recordings and made ones. They take effect with the next build.',
  )
  .requiredOption('--recordings <folder>', 'the recordings (sdk/RECORDINGS.md), with ID.ref.csv')
  .option('--no-network', 'keep the network of the heart rate in motion, which takes longest')
  .addOption(
    new Option('--model <name...>', 'fit only these models of confidence (default: all)')
      .choices(MODELS)
      .default(MODELS),
  )
  .option(
    '--constants [name...]',
    'fit no weights: try other values of the constants that are chosen or were fitted so, or only of these (STEP.NAME), steps or folders (pulse), and write their losses into lab/constants.csv, and those of chosen ones into SENSITIVITY.md; a search that was stopped goes on',
  )
  .action(async ({ recordings: folder, constants, ...options }: Options & Others) => {
    const recordings = resolve(folder);
    if (!constants) return fit(recordings, options);
    await fitConstants(recordings, constants === true ? [] : constants);
  });

runCommand(command);
