import { setTimeout } from 'node:timers/promises';

/** Interval of the checks, ms. */
const PAUSE_MS = 20;

/**
 * Checks until a condition holds; a check that fails counts as no.
 * @returns the time that it took, ms
 * @throws if it does not hold within `ms`
 */
export async function eventually(what: string, look: () => Promise<boolean> | boolean, ms = 30_000): Promise<number> {
  const begun = Date.now();
  for (;;) {
    const [holds, error] = await attempt(look);
    if (holds) return Date.now() - begun;
    if (Date.now() - begun > ms) throw new Error(`not within ${ms} ms: ${what}`, { cause: error });
    await setTimeout(PAUSE_MS);
  }
}

async function attempt(look: () => Promise<boolean> | boolean): Promise<[boolean, unknown]> {
  try {
    return [await look(), undefined];
  } catch (error) {
    return [false, error];
  }
}
