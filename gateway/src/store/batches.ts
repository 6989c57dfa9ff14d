import { ownTurn } from './own-turn.js';

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
