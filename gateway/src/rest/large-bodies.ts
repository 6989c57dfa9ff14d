import { Queue } from '../queue.js';

/** Maximum number of bodies of one account that are read at once. */
const MOST_OF_ONE = 8;
/** Bodies of all accounts after which each account may have only one, 1 MiB each. */
const MOST_OF_ALL = 128;

/**
 * Limits the memory that large bodies take while they arrive, which may take half a minute. An account reads up to 8 at
 * once, but no more than an eighth of what the others leave of 128: so all of them take at most 128 and one for each
 * account, and an account always has its one at once, whatever the others do.
 */
export function largeBodies(): Queue {
  return new Queue({ each: (reading) => Math.max(1, Math.min(MOST_OF_ONE, (MOST_OF_ALL - reading) / MOST_OF_ONE)) });
}
