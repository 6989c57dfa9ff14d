import type { Insight } from '../generated/types.gen.js';

export interface HistoryPage {
  /** Oldest first. */
  readonly data: readonly Insight[];
  /** Start of the next page; null on the last one. */
  readonly cursor: string | null;
  /** The service's clock when it answered, ms since the epoch, whole seconds. */
  readonly serverTime: number;
}

/** Reads stored insights across sessions in order of `ts`, from `since` (ms) on, or from the end of a page. */
export type ReadHistory = (query: { since?: number; cursor?: string; limit: number }) => Promise<HistoryPage>;

/** Rows of a page: the most that the service returns. */
const PAGE_ROWS = 1000;
/**
 * Insights older than this are final, ms: one is readable at most 5 s after its `ts`, and the gateways' clocks agree
 * within 1 s; the rest allows for the seconds of the Date header and the transport.
 */
export const SETTLED_MS = 10_000;

/**
 * The insights stored from `since` (ms) on, in batches, in order of `ts`; without a gap for each session and type, even
 * while rows are being written: the part that is not final is read twice, so that every row written before a row of the
 * first reading is in the second.
 *
 * @throws the errors of `read`
 */
export async function* readStored(read: ReadHistory, since: number): AsyncGenerator<readonly Insight[]> {
  const unsettled: Insight[] = [];
  for await (const { data, serverTime } of pages(read, since)) {
    const settled = data.findIndex(({ ts }) => ts >= serverTime - SETTLED_MS);
    yield settled < 0 ? data : data.slice(0, settled);
    if (settled >= 0) unsettled.push(...data.slice(settled));
  }
  yield await readAgain(read, unsettled);
}

/** The rows again, with those that were written before them but became visible late; later ones are left out. */
async function readAgain(read: ReadHistory, rows: readonly Insight[]): Promise<Insight[]> {
  const first = rows[0];
  if (!first) return [];
  const newest = new Map(rows.map((row) => [seriesOf(row), row.ts]));
  const again: Insight[] = [];
  for await (const { data } of pages(read, first.ts))
    again.push(...data.filter((row) => row.ts <= (newest.get(seriesOf(row)) ?? -1)));
  return again;
}

async function* pages(read: ReadHistory, since: number): AsyncGenerator<HistoryPage> {
  let page = await read({ since, limit: PAGE_ROWS });
  yield page;
  while (page.cursor !== null) {
    page = await read({ since, cursor: page.cursor, limit: PAGE_ROWS });
    yield page;
  }
}

function seriesOf({ session_id, type }: Pick<Insight, 'session_id' | 'type'>): string {
  return `${session_id} ${type}`;
}
