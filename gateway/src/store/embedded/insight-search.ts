import { ownTurn } from '../batches.js';
import { pageOf } from '../cursor.js';
import { cursorAt, cursorKind, type InsightPlace, orderOf, placeOf } from '../insight-order.js';
import type { InsightQuery, InsightStore } from '../store.js';
import type { Database, Statement } from './database.js';
import { COLUMNS, type InsightValues, insightReader, type Located, numberOf, placeOfId } from './insight-rows.js';
import { Conditions } from './rows.js';
import { Merge, type Span } from './runs.js';

/** Rows that a search reads before others get a turn: one or two ms of the event loop. */
const SLICE = 2000;

/** A place in the order of insights: the values of its columns. */
type Position = readonly number[];

/** Where a part of a search lies: after one position, up to another one, both in its direction. */
interface Part {
  readonly after: Position | null;
  readonly upTo: Position | null;
  readonly most: number;
}

/**
 * Pages of insights across sessions: those of an account from an index, those of a user or a device merged from its
 * sessions.
 */
export function insightSearch(db: Database): InsightStore['insights'] {
  const ofAccount = accountSearch(db);
  const spans = spanSearch(db);
  return async (query, signal) => {
    const place = placeOf(query, '\\d{1,16}');
    const most = query.limit + 1;
    const found =
      query.user === null && !query.deviceId
        ? await ofAccount(query, place, signal)
        : await new Merge(db, await spans(query), query, place).next(most, signal);
    const order = orderOf(query);
    const at = ({ insight: { actual_end, ts }, id }: Located) => cursorAt(order, { actual_end, ts, id: String(id) });
    const page = pageOf(cursorKind(order), found, query.limit, at, ({ insight }) => insight);
    if (!order.forward) page.rows.reverse();
    return page;
  };
}

type Found = readonly [...InsightValues, sessionId: string, deviceId: string];

/**
 * The insights of an account. No index has the type, and the rows of an account may be hundreds of millions: what none or
 * few of them match is searched in slices. However many searches there are, one slice is read in a turn of the event
 * loop, and accounts take turns.
 */
function accountSearch(db: Database) {
  const read = insightReader(db);
  const located = (row: Found) => read(row.slice(0, 10) as unknown as InsightValues, row[10], row[11]);
  const all = (page: Statement) => db.read(() => db.lists<Found>(page).map(located));
  const endOf = (slice: Statement) => db.read(() => db.lists<Position>(slice)[0] ?? null);
  return async (query: InsightQuery, place: InsightPlace | null, signal?: AbortSignal): Promise<Located[]> => {
    const found: Located[] = [];
    for (let after = positionAt(query, place); ; ) {
      if (isSieve(query)) await ownTurn(query.accountId);
      const upTo = isSieve(query) ? await endOf(sliceEnd(query, after)) : null;
      found.push(...(await all(insightPage(query, { after, upTo, most: query.limit + 1 - found.length }))));
      if (upTo === null || found.length > query.limit || signal?.aborted) return found;
      after = upTo;
    }
  };
}

/** The statement for a part of an account's insights. Exported for the test of its indexes. */
export function insightPage(query: InsightQuery, part: Part): Statement {
  const { index, where, order } = rangeOf(query, part);
  if (query.type !== null) where.add('type = ?', numberOf(query.type));
  // The insights are found first, then the fields of their sessions.
  const select = `SELECT ${COLUMNS}, s.id, s.deviceId FROM insights i ${index} CROSS JOIN sessions s ON s.n = i.session`;
  return where.statement(select, `ORDER BY ${order} LIMIT ?`, part.most);
}

/** The statement for the last position of a slice; without a row if there is no whole slice any more. */
export function sliceEnd(query: InsightQuery, after: Position | null): Statement {
  const { index, where, columns, order } = rangeOf(query, { after, upTo: null });
  const select = `SELECT ${columns} FROM insights i ${index}`;
  return where.statement(select, `ORDER BY ${order} LIMIT 1 OFFSET ?`, SLICE - 1);
}

/** Whether a query leaves out insights of its range. */
function isSieve(query: InsightQuery): boolean {
  const { type, since, until } = query;
  return type !== null || (orderOf(query).byData && (since !== null || until !== null));
}

/** What an index finds. */
function rangeOf(query: InsightQuery, { after, upTo }: Omit<Part, 'most'>) {
  const { accountId, since, until, dataSince = null, dataUntil = null } = query;
  const account = 'i.account = (SELECT account FROM sessions WHERE accountId = ? LIMIT 1)';
  const where = new Conditions().add(account, accountId);
  const { byData, forward } = orderOf(query);
  const columns = byData ? ['actual_end', 'ts', 'session', 'type'] : ['ts', 'session', 'type'];
  const [low, high] = forward ? [after, upTo] : [upTo, after];
  // SQLite begins at the first of two bounds, however far it is from the other one: `+` keeps a time from being that.
  const bounds: [column: string, since: number | null, until: number | null][] = [
    ['ts', since, until],
    ['actual_end', dataSince, dataUntil],
  ];
  for (const [column, from, to] of bounds) {
    const other = column === columns[0] ? '' : '+';
    if (from !== null) where.add(`${low ? '+' : other}${column} >= ?`, from);
    if (to !== null) where.add(`${high ? '+' : other}${column} < ?`, to);
  }
  const place = `(${columns}) ? (${columns.map(() => '?')})`;
  if (low) where.add(place.replace('?', forward ? '>' : '>='), ...low);
  if (high) where.add(place.replace('?', forward ? '<=' : '<'), ...high);
  const index = `INDEXED BY ${byData ? 'insights_by_data' : 'insights_by_time'}`;
  const order = columns.map((column) => (forward ? column : `${column} DESC`)).join(', ');
  return { index, where, columns, order };
}

function positionAt(query: InsightQuery, place: InsightPlace | null): Position | null {
  if (!place) return null;
  const { actual_end, ts, id } = place;
  return orderOf(query).byData ? [actual_end, ts, ...placeOfId(Number(id))] : [ts, ...placeOfId(Number(id))];
}

/** The sessions of a user or a device that have insights within the bounds of a query, read in slices. */
function spanSearch(db: Database): (query: InsightQuery) => Promise<Span[]> {
  return async (query) => {
    const spans: Span[] = [];
    for (let after = 0; ; ) {
      await ownTurn(query.accountId);
      const last = await db.read(() => db.all<Pick<Span, 'n'>>(spanSliceEnd(query, after))[0]?.n);
      spans.push(...(await db.read(() => db.all<Span>(spanSlice(query, after, last ?? Number.MAX_SAFE_INTEGER)))));
      if (last === undefined) return spans;
      after = last;
    }
  };
}

/** The statement for the sessions of a slice. Exported for the test of its index. */
export function spanSlice(query: InsightQuery, after: number, upTo: number): Statement {
  const { since, until, dataSince = null, dataUntil = null } = query;
  const where = scopeOf(query, after).add('n <= ?', upTo);
  where.add('last_ts >= ?', since ?? 0);
  if (until !== null) where.add('first_ts < ?', until);
  if (dataSince !== null) where.add('last_end >= ?', dataSince);
  if (dataUntil !== null) where.add('first_end < ?', dataUntil);
  if (query.deviceId && query.user !== null) where.add('user = ?', query.user);
  const bounds = 'first_ts, last_ts, first_end, last_end';
  return where.statement(`SELECT n, id, deviceId, ${bounds} FROM sessions ${indexOf(query)}`);
}

/** The statement for the last session of a slice; without a row if there is no whole slice any more. */
export function spanSliceEnd(query: InsightQuery, after: number): Statement {
  const select = `SELECT n FROM sessions ${indexOf(query)}`;
  return scopeOf(query, after).statement(select, 'ORDER BY n LIMIT 1 OFFSET ?', SLICE - 1);
}

function scopeOf({ accountId, user, deviceId }: InsightQuery, after: number): Conditions {
  const owner = deviceId ? 'deviceId = ?' : 'user = ?';
  return new Conditions().add(`accountId = ? AND ${owner} AND n > ?`, accountId, deviceId ?? user, after);
}

function indexOf({ deviceId }: InsightQuery): string {
  return `INDEXED BY ${deviceId ? 'session_numbers_of_device' : 'session_numbers_of_user'}`;
}
