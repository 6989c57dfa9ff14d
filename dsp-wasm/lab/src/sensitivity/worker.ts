import { parentPort, workerData } from 'node:worker_threads';
import { type Constant, TunableCore } from '@device-insights/dsp-wasm/tuning';
import { type Block, scoreCases } from './blocks.js';
import { readCases } from './cases.js';

/** A thread that scores its share of the cases by each core that it is asked for, in the order of the requests. */

export interface WorkerData {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly constants: readonly Constant[];
  readonly recordings: string;
  readonly benches: boolean;
  readonly perSet: number;
  readonly share: { readonly index: number; readonly count: number };
}

export interface Job {
  readonly groups: readonly string[];
  /** Index of the constant whose value is another; null for the core as it is. */
  readonly changed: { readonly index: number; readonly value: number } | null;
}

/** Null where the core failed. */
export type Result = readonly Block[] | null;

const { bytes, constants, recordings, benches, perSet, share }: WorkerData = workerData;
const tunable = TunableCore.load(bytes, constants);
const cases = readCases(recordings, benches, perSet, share);

async function work({ groups, changed }: Job): Promise<Result> {
  const constant = changed ? constants[changed.index] : undefined;
  const core = await (await tunable).open(constant && changed ? { constant, value: changed.value } : undefined);
  try {
    return await scoreCases(await cases, groups, core);
  } catch (error) {
    if (error instanceof Error && error.name === 'RuntimeError') return null; // WebAssembly's, of a trap
    throw error;
  }
}

let last: Promise<void> = Promise.resolve();
parentPort?.on('message', (job: Job) => {
  last = last.then(async () => parentPort?.postMessage(await work(job)));
});
