import type { InsightType, StoredInsight } from '../../insight.js';
import { pageOf } from '../cursor.js';
import { cursorAt, cursorKind, orderOf, placeOf } from '../insight-order.js';
import { ownTurn } from '../own-turn.js';
import type { InsightQuery, Page, Store } from '../store.js';
import type { Database, Value } from './database.js';

/** Insights that a search reads before others get a turn: one or two ms of the event loop. */
const SLICE = 2000;

/** A place in the order of insights: the values of its columns. */
type Position = readonly number[];

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
 * slice is read in a turn of the event loop, and accounts take turns.
 */
export function insightSearch(db: Database): Store['insights'] {
  const all = <Row>({ sql, values }: Select) => db.read(() => db.prepare<Row>(sql).all(...values));
  const endOf = async ({ sql, values }: Select) =>
    (await db.read(() => db.prepareLists<Position>(sql).all(...values)))[0] ?? null;
  return async (query, signal) => {
    const found: InsightRow[] = [];
    for (let after = positionOf(query); ; ) {
      if (isSieve(query)) await ownTurn(query.accountId);
      const upTo = isSieve(query) ? await endOf(sliceEnd(query, after)) : null;
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
  const { index, where, values, columns, order } = rangeOf(query, { after, upTo: null });
  const sql = `SELECT ${columns} FROM insights i ${index} WHERE ${where.join(' AND ')} ORDER BY ${order} LIMIT 1 OFFSET ?`;
  return { sql, values: [...values, SLICE - 1] };
}

/** Whether a query leaves out insights of its range. */
function isSieve(query: InsightQuery): boolean {
  const { type, deviceId, user, since, until } = query;
  if (type !== null || (Boolean(deviceId) && user !== null)) return true;
  return orderOf(query).byData && (since !== null || until !== null);
}

/** What an index finds. */
function rangeOf(query: InsightQuery, { after, upTo }: Omit<Part, 'most'>) {
  const { accountId, user, deviceId, since, until, dataSince = null, dataUntil = null } = query;
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
  const { byData, forward } = orderOf(query);
  const columns = byData ? ['actual_end', 'ts', 'i.id'] : ['ts', 'i.id'];
  const [low, high] = forward ? [after, upTo] : [upTo, after];
  // SQLite begins at the first of two bounds, however far it is from the other one: `+` keeps a time from being that.
  const bounds: [column: string, since: number | null, until: number | null][] = [
    ['ts', since, until],
    ['actual_end', dataSince, dataUntil],
  ];
  for (const [column, from, to] of bounds) {
    const other = column === columns[0] ? '' : '+';
    if (from !== null) add(`${low ? '+' : other}${column} >= ?`, from);
    if (to !== null) add(`${high ? '+' : other}${column} < ?`, to);
  }
  const place = `(${columns}) ? (${columns.map(() => '?')})`;
  if (low) add(place.replace('?', forward ? '>' : '>='), ...low);
  if (high) add(place.replace('?', forward ? '<=' : '<'), ...high);
  // SQLite would rather narrow by time, and read what all the account's devices published.
  const index = indexOf(byData, Boolean(deviceId), user !== null);
  const order = columns.map((column) => (forward ? column : `${column} DESC`)).join(', ');
  return { index, where, values, columns, order };
}

function indexOf(byData: boolean, isOfDevice: boolean, isOfUser: boolean): string {
  if (isOfDevice) return `INDEXED BY insights_of_device${byData ? '_by_data' : ''}`;
  if (!byData) return '';
  return isOfUser ? 'INDEXED BY insights_of_user_by_data' : 'INDEXED BY insights_by_data';
}

function positionOf(query: InsightQuery): Position | null {
  const place = placeOf(query, '\\d{1,15}');
  if (!place) return null;
  const { actual_end, ts, id } = place;
  return orderOf(query).byData ? [actual_end, ts, Number(id)] : [ts, Number(id)];
}

function insightPageOf(rows: InsightRow[], query: InsightQuery): Page<StoredInsight> {
  const order = orderOf(query);
  const at = ({ actual_end, ts, id }: InsightRow) => cursorAt(order, { actual_end, ts, id: String(id) });
  const page = pageOf(cursorKind(order), rows, query.limit, at, insightOf);
  if (!order.forward) page.rows.reverse();
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
