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

/**
 * Reads rows page by page, each page starting after the last row of the previous one, so that nothing is held open for
 * a slow reader. Of all readers, one reads a page in a turn of the event loop, and accounts take turns.
 */
export async function* batches<Row>(
  accountId: string,
  size: number,
  page: (after: Row | null) => Promise<Row[]>,
): AsyncGenerator<Row[]> {
  for (let last: Row | null = null; ; ) {
    await ownTurn(accountId);
    const rows: Row[] = await page(last);
    if (rows.length > 0) yield rows;
    const end = rows.at(-1);
    if (!end || rows.length < size) return;
    last = end;
  }
}
