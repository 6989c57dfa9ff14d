import { parentPort, workerData } from 'node:worker_threads';
import { type Constant, TunableCore } from '@device-insights/dsp-wasm/tuning';
import { type Block, scoreCases, scoreMinutes } from './blocks.js';
import { readCases, SEED } from './cases.js';

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
  /** Whether they are of minutes, not of the cases. */
  readonly ofMinutes: boolean;
  /** Index of the constant whose value is another; null for the core as it is. */
  readonly changed: { readonly index: number; readonly value: number } | null;
}

/** Null where the core failed. */
export type Result = readonly Block[] | null;

const { bytes, constants, recordings, benches, perSet, share }: WorkerData = workerData;
const tunable = TunableCore.load(bytes, constants);
let cases: ReturnType<typeof readCases> | null = null;

async function work({ groups, ofMinutes, changed }: Job): Promise<Result> {
  const constant = changed ? constants[changed.index] : undefined;
  const open = async () => (await tunable).open(constant && changed ? { constant, value: changed.value } : undefined);
  try {
    if (ofMinutes) return await scoreMinutes(recordings, SEED, share, open);
    cases ??= readCases(recordings, benches, perSet, share);
    return await scoreCases(await cases, groups, await open());
  } catch (error) {
    if (error instanceof Error && error.name === 'RuntimeError') return null; // WebAssembly's, of a trap
    throw error;
  }
}

let last: Promise<void> = Promise.resolve();
parentPort?.on('message', (job: Job) => {
  last = last.then(async () => parentPort?.postMessage(await work(job)));
});
