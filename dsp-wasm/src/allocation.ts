import { type CoreChannel, createCore, ENCODING } from './core.js';
import { payload } from './signals.js';

/** One optical channel, a second at a time; a period that is no integer lies on the heap once, as a constant, not once a push. */
const GREEN: CoreChannel = { modality: 'ppg_green', sampleRateHz: 8, numChannels: 1 };
const PERIOD = 0.125;
/** Pushes until the engine has compiled the path for good, which leaves something behind, too. */
const WARM_PUSHES = 200_000;

/** Bytes by which `pushes` pushes make the JavaScript heap larger; NaN where a collection came between. */
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
