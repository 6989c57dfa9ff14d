import { setImmediate } from 'node:timers/promises';
import { Queue } from '../queue.js';

const turns = new Queue({ atOnce: 1 });

/**
 * Waits for a turn of the event loop that no other caller has. Long answers are read in parts of one to a few ms; however
 * many of them are asked for, one part is read in a turn, so that everything else goes on. Accounts take turns, so that
 * the reads of one do not delay those of another.
 */
export function ownTurn(accountId: string): Promise<void> {
  return turns.run(accountId, () => setImmediate());
}
