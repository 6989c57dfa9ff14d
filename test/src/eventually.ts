import { setTimeout } from 'node:timers/promises';

/** Shortest and longest interval of the checks, ms. */
const PAUSE_MS = 20;
const MAX_PAUSE_MS = 500;
/** The interval is this part of the time waited so far: a check costs CPU time, in servers too, that other tests need. */
const PART = 1 / 20;

/**
 * Checks until a condition holds; a check that fails counts as no.
 * @returns the time that it took, ms
 * @throws if it does not hold within `ms`
 */
export async function eventually(what: string, look: () => Promise<boolean> | boolean, ms = 30_000): Promise<number> {
  const begun = Date.now();
  for (;;) {
    const [holds, error] = await attempt(look);
    const waited = Date.now() - begun;
    if (holds) return waited;
    if (waited > ms) throw new Error(`not within ${ms} ms: ${what}`, { cause: error });
    await setTimeout(Math.min(MAX_PAUSE_MS, Math.max(PAUSE_MS, waited * PART)));
  }
}

async function attempt(look: () => Promise<boolean> | boolean): Promise<[boolean, unknown]> {
  try {
    return [await look(), undefined];
  } catch (error) {
    return [false, error];
  }
}
