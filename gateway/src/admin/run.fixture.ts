import { systemClock } from '@device-insights/fanout/platform/clock';
import { CATALOGUE } from '../analysis/algorithms.js';
import { openStore } from '../store/open.js';
import { adminCommand } from './command.js';

/** Performs a command of the operator on the store of these variables, without a process of its own; returns its result. */
export async function runAdmin<T>(env: Readonly<Record<string, string>>, words: readonly string[]): Promise<T> {
  const store = await openStore({ mongodbUri: env.MONGODB_URI ?? null, dataDir: env.DATA_DIR ?? '' }, systemClock);
  const noFile = () => Promise.reject(new Error('a command on files needs a process'));
  const files = { backUp: noFile, restore: noFile, verify: noFile, verifyStore: noFile };
  let result: object = {};
  try {
    const context = { store, algorithms: CATALOGUE, clock: systemClock, actor: 'admin command of the tests' };
    const command = adminCommand(async (task) => {
      result = await task(context);
    }, files);
    await command.parseAsync(words, { from: 'user' });
    return result as T;
  } finally {
    await store.close();
  }
}
