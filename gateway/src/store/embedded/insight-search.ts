import type { InsightType, StoredInsight } from '../../insight.js';
import { decodeCursor, pageOf } from '../cursor.js';
import { ownTurn } from '../own-turn.js';
import type { InsightQuery, Page, Store } from '../store.js';
import type { Database, Value } from './database.js';

/** Insights that a search reads before others get a turn: one or two ms of the event loop. */
const SLICE = 2000;

/** A place in the order of insights. */
type Position = readonly [ts: number, id: number];

/** Where a part of a search lies: after one position, up to another one, both in its direction. */
interface Part {
  readonly after: Position | null;
  readonly upTo: Position | null;
  readonly most: number;
}

interface Select {
  readonly sql: string;
  readonly values: Value[];
}

/**
 * Pages of insights across sessions. No index has the type, or the users of a device, and the rows of an account may be
 * hundreds of millions: what none or few of them match is searched in slices. However many searches there are, one
 * slice is read in a turn of the event loop.
 */
export function insightSearch(db: Database): Store['insights'] {
  const all = <Row>({ sql, values }: Select) => db.read(() => db.prepare<Row>(sql).all(...values));
  return async (query, signal) => {
    const found: InsightRow[] = [];
    for (let after = positionOf(query); ; ) {
      if (isSieve(query)) await ownTurn();
      const [end] = isSieve(query) ? await all<{ ts: number; id: number }>(sliceEnd(query, after)) : [];
      const upTo: Position | null = end ? [end.ts, end.id] : null;
      found.push(...(await all<InsightRow>(insightPage(query, { after, upTo, most: query.limit + 1 - found.length }))));
      if (upTo === null || found.length > query.limit || signal?.aborted) return insightPageOf(found, query);
      after = upTo;
    }
  };
}

/** The statement for a page of insights, one row longer than the page. Exported for the test of its indexes. */
export function insightPage(
  query: InsightQuery,
  part: Part = { after: positionOf(query), upTo: null, most: query.limit + 1 },
): Select {
  const { index, where, values, order } = rangeOf(query, part);
  const also = (condition: string, value: Value) => {
    where.push(condition);
    values.push(value);
  };
  if (query.deviceId) also('i.account_id = ?', query.accountId);
  if (query.deviceId && query.user !== null) also('i.user = ?', query.user);
  if (query.type !== null) also('type = ?', query.type);
  // The insights are found first, then the fields of their sessions.
  const sql = `SELECT i.*, s.id AS session_id, s.device_id FROM insights i ${index} CROSS JOIN sessions s ON s.n = i.session
    WHERE ${where.join(' AND ')} ORDER BY ${order} LIMIT ?`;
  return { sql, values: [...values, part.most] };
}

/** The statement for the last position of a slice; without a row if there is no whole slice any more. */
export function sliceEnd(query: InsightQuery, after = positionOf(query)): Select {
  const { index, where, values, order } = rangeOf(query, { after, upTo: null });
  const sql = `SELECT ts, i.id FROM insights i ${index} WHERE ${where.join(' AND ')} ORDER BY ${order} LIMIT 1 OFFSET ?`;
  return { sql, values: [...values, SLICE - 1] };
}

/** Whether a query leaves out insights of its range. */
function isSieve({ type, deviceId, user }: InsightQuery): boolean {
  return type !== null || (Boolean(deviceId) && user !== null);
}

/** What an index finds. */
function rangeOf(query: InsightQuery, { after, upTo }: Omit<Part, 'most'>) {
  const { accountId, user, deviceId, since, until } = query;
  const where: string[] = [];
  const values: Value[] = [];
  const add = (condition: string, ...bound: Value[]) => {
    where.push(condition);
    values.push(...bound);
  };
  if (deviceId)
    add('i.device = (SELECT device FROM sessions WHERE account_id = ? AND device_id = ? LIMIT 1)', accountId, deviceId);
  else {
    add('i.account_id = ?', accountId);
    if (user !== null) add('i.user = ?', user);
  }
  const [low, high] = since === null ? [upTo, after] : [after, upTo];
  // SQLite begins at the first of two bounds, however far it is from the other one: `+` keeps a time from being that.
  if (since !== null) add(`${low ? '+' : ''}ts >= ?`, since);
  if (until !== null) add(`${high ? '+' : ''}ts < ?`, until);
  if (low) add(`(ts, i.id) ${since === null ? '>=' : '>'} (?, ?)`, ...low);
  if (high) add(`(ts, i.id) ${since === null ? '<' : '<='} (?, ?)`, ...high);
  // SQLite would rather narrow by time, and read what all the account's devices published.
  const index = deviceId ? 'INDEXED BY insights_of_device' : '';
  return { index, where, values, order: since === null ? 'ts DESC, i.id DESC' : 'ts, i.id' };
}

function positionOf({ cursor }: InsightQuery): Position | null {
  if (cursor === null) return null;
  const [ts, id] = decodeCursor('insights', /^\d{1,15}$/, cursor);
  return [ts, Number(id)];
}

function insightPageOf(rows: InsightRow[], { limit, since }: InsightQuery): Page<StoredInsight> {
  const page = pageOf('insights', rows, limit, (row) => [row.ts, String(row.id)], insightOf);
  if (since === null) page.rows.reverse();
  return page;
}

interface InsightRow {
  readonly id: number;
  readonly session_id: string;
  readonly type: InsightType;
  readonly value: number;
  readonly unit: string;
  readonly ts: number;
  readonly device_id: string;
  readonly confidence: number;
  readonly sqi_class: StoredInsight['sqi_class'];
  readonly actual_start: number;
  readonly actual_end: number;
  readonly coverage: number;
  readonly e2e_latency_ms: number;
  readonly algorithm: string;
}

function insightOf(row: InsightRow): StoredInsight {
  return {
    type: row.type,
    value: row.value,
    unit: row.unit,
    ts: row.ts,
    session_id: row.session_id,
    device_id: row.device_id,
    confidence: row.confidence,
    sqi_class: row.sqi_class,
    actual_start: row.actual_start,
    actual_end: row.actual_end,
    coverage: row.coverage,
    e2e_latency_ms: row.e2e_latency_ms,
    algorithm: row.algorithm,
  };
}
