import { type CoreChannel, createCore, ENCODING } from './core.js';
import { payload } from './signals.js';

/** One optical channel, one second at a time. The period, which is not an integer, is a constant, so that it is on the heap only once. */
const GREEN: CoreChannel = { modality: 'ppg_green', sampleRateHz: 8, numChannels: 1 };
const PERIOD = 0.125;
/** Pushes until the engine has optimised the path, which also allocates memory. */
const WARM_PUSHES = 200_000;

/** Growth of the JavaScript heap by `pushes` pushes, bytes; NaN if a garbage collection ran meanwhile. */
export async function heapGrowth(pushes: number): Promise<number> {
  const session = (await createCore({ maxSessions: 1 })).open([GREEN]);
  if (session === null) return Number.NaN;
  const bytes = payload([1, 2, 3, 4, 5, 6, 7, 8]);
  let second = 0;
  for (; second < WARM_PUSHES; second++) session.push(0, second, PERIOD, ENCODING.float32, bytes);
  const before = process.memoryUsage().heapUsed;
  for (; second < WARM_PUSHES + pushes; second++) session.push(0, second, PERIOD, ENCODING.float32, bytes);
  const growth = process.memoryUsage().heapUsed - before;
  return growth < 0 ? Number.NaN : growth;
}
