import { setImmediate } from 'node:timers/promises';

let last: Promise<void> = Promise.resolve();

/**
 * Waits for a turn of the event loop that no other caller has. Long answers are read in parts of one to a few ms; however
 * many of them are asked for, one part is read in a turn, so that everything else goes on.
 */
export function ownTurn(): Promise<void> {
  last = last.then(() => setImmediate());
  return last;
}
