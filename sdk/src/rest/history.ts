import type { Insight } from '../generated/types.gen.js';
import { PAGE_ROWS, SETTLED_MS } from '../limits.js';
import { type Page, pages } from './page.js';

/** Selects stored insights with `since` <= `ts` < `until` (ms), or the newest ones; `cursor` is the end of a page. */
export interface HistoryQuery {
  readonly since?: number;
  readonly until?: number;
  readonly cursor?: string;
  readonly limit: number;
}

/** Reads a page of stored insights across sessions in order of `ts`. */
export type ReadHistory = (query: HistoryQuery, call?: { readonly signal: AbortSignal }) => PromiseLike<Page<Insight>>;

/** The newest `ts` that is stored, ms: the service's own time of its last publication. 0 if nothing is stored. */
export async function newestStored(read: ReadHistory): Promise<number> {
  return (await read({ limit: 1 })).data[0]?.ts ?? 0;
}

/**
 * The insights stored from `since` (ms) on, in batches, in order of `ts`; without a gap for each session and type, even
 * while rows are being written: those that are not final end at the newest of each series in a first reading. Every row
 * that was written before that one is in the second reading, even if it became visible behind the first.
 *
 * @throws the errors of `read`
 */
export async function* readStored(read: ReadHistory, since: number): AsyncGenerator<readonly Insight[]> {
  const final = (await newestStored(read)) - SETTLED_MS;
  const newest = new Map<string, number>();
  for await (const rows of readPeriod(read, { since: Math.max(since, final) }))
    for (const row of rows) newest.set(seriesOf(row), row.ts);
  for await (const rows of readPeriod(read, { since }))
    yield rows.filter((row) => row.ts <= (newest.get(seriesOf(row)) ?? final));
}

/** The insights stored in a period, page after page, in order of `ts`. */
export function readPeriod(
  read: ReadHistory,
  period: { readonly since: number; readonly until?: number },
): AsyncGenerator<readonly Insight[]> {
  return pages(async (cursor) => read({ ...period, ...(cursor !== undefined && { cursor }), limit: PAGE_ROWS }));
}

/** The session and type of an insight: within them `ts` ascends. */
export function seriesOf({ session_id, type }: Pick<Insight, 'session_id' | 'type'>): string {
  return `${session_id} ${type}`;
}
