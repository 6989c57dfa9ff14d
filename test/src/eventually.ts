import { setTimeout } from 'node:timers/promises';

/** Between two looks, ms. */
const PAUSE_MS = 20;

/**
 * Looks until something holds; a look that fails counts as no.
 * @returns how long that took, ms
 * @throws where it does not hold within `ms`
 */
export async function eventually(what: string, look: () => Promise<boolean> | boolean, ms = 10_000): Promise<number> {
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
