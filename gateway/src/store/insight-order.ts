import { decodeCursor } from './cursor.js';
import type { InsightQuery } from './store.js';

/** The order of a query's pages. */
export interface InsightOrder {
  /** By `actual_end`, then `ts`, then id; otherwise by `ts`, then id. */
  readonly byData: boolean;
  /** From the lower bound on; otherwise the last ones before the upper bound. */
  readonly forward: boolean;
}

/** Bounds of data time order the insights by data time; a lower bound of the time that orders them, forward. */
export function orderOf({
  since,
  dataSince = null,
  dataUntil = null,
}: Pick<InsightQuery, 'since' | 'dataSince' | 'dataUntil'>): InsightOrder {
  const byData = dataSince !== null || dataUntil !== null;
  return { byData, forward: (byData ? dataSince : since) !== null };
}

/** The fields that order insights; `id` is the store's. */
export interface InsightPlace {
  readonly actual_end: number;
  readonly ts: number;
  readonly id: string;
}

/** Kind and position of a cursor at an insight. */
export function cursorAt({ byData }: InsightOrder, { actual_end, ts, id }: InsightPlace): readonly [number, string] {
  return byData ? [actual_end, `${ts} ${id}`] : [ts, id];
}

export function cursorKind({ byData }: InsightOrder): string {
  return byData ? 'insights by data' : 'insights';
}

/**
 * The place of the query's cursor; null without one. `actual_end` counts only in an order by data.
 * @param id form of the store's ids, as the source of a pattern
 * @throws BadCursor
 */
export function placeOf(query: InsightQuery, id: string): InsightPlace | null {
  if (query.cursor === null) return null;
  const order = orderOf(query);
  const form = new RegExp(order.byData ? `^\\d{1,16} ${id}$` : `^${id}$`);
  const [first, rest] = decodeCursor(cursorKind(order), form, query.cursor);
  const [ts = '', end = ''] = order.byData ? rest.split(' ') : [String(first), rest];
  return { actual_end: first, ts: Number(ts), id: end };
}
