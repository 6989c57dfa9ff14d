import type { Context } from 'mocha';
import { killChildren } from './server-process.js';

/** Time in which the run must end by itself after its last test, ms. */
const END_MS = 10_000;

/** Mocha's root hooks: no process outlives the test file that started it, also where a test fails. */
export const mochaHooks = {
  beforeAll(this: Context): void {
    for (const file of this.test?.parent?.suites ?? [])
      file.afterAll('leaves no process', () => {
        for (const command of killChildren()) console.warn(`      left running, and killed: ${command}`);
      });
  },
  afterAll(): void {
    if (process.env.MOCHA_WORKER_ID !== undefined) return; // A worker has more files to run, and is ended by mocha.
    const end = setTimeout(() => {
      console.warn(`the run does not end by itself: ${[...new Set(process.getActiveResourcesInfo())].join(', ')}`);
      process.exit();
    }, END_MS);
    end.unref();
  },
};
