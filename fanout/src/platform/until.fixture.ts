/** Interval of the checks, ms. Checking in each turn of the event loop would keep a core busy that other tests need. */
const PAUSE_MS = 5;

/** Resolves once `condition` holds. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
}
