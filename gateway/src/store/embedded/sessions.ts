import { UUID } from '../../uuid.js';
import { decodeCursor, pageOf } from '../cursor.js';
import { AFTER_ALL } from '../device-order.js';
import {
  type Diagnostics,
  type Session,
  type SessionQuery,
  type SessionStore,
  type StreamingQuery,
  TAKEOVERS_KEPT,
} from '../store.js';
import type { Database, Value } from './database.js';
import type { Calls } from './kinds.js';
import { fromJson, insertRow, rowReader, type Stored } from './rows.js';

/** The sessions of an embedded store. */
export function embeddedSessions(db: Database): Calls<SessionStore> {
  const byId = db.prepare<SessionRow>('SELECT * FROM sessions WHERE id = ?');
  const openOf = db.prepare<SessionRow>(
    "SELECT * FROM sessions WHERE accountId = ? AND deviceId = ? AND status = 'open'",
  );
  const close = db.prepare(
    `UPDATE sessions SET status = 'closed', endedAt = ifnull(?, startedAt)
       WHERE id = ? AND epoch = ? AND status = 'open'`,
  );
  const removeEmpty = emptySessionRemoval(db);
  const owned = db.prepare<{ accountId: string; deviceId: string }>(
    'SELECT accountId, deviceId FROM sessions WHERE id = ? AND gateway = ? AND epoch = ?',
  );
  const burden = db.prepare('UPDATE devices SET problem = ? WHERE accountId = ? AND deviceId = ?');
  const diagnosed = db.prepare<{ diagnostics: string }>('SELECT diagnostics FROM diagnostics WHERE sessionId = ?');
  const number = db.prepare<{ account: number }>(ACCOUNT);
  const claim = sessionClaim(db);
  const one = (row: SessionRow | undefined) => (row ? sessionOf(row) : null);
  return {
    openSession: (session) => insertRow(db, 'sessions', { ...session, ...number.get(session.accountId) }, ONE_OPEN),
    session: (id) => one(byId.get(id)),
    openSessionOf: (accountId, deviceId) => one(openOf.get(accountId, deviceId)),
    claimSession: (id, epoch, gateway) => {
      const row = byId.get(id);
      if (row?.status !== 'open' || row.epoch !== epoch) return null;
      claim(row, gateway);
      return sessionOf({ ...row, gateway, epoch: epoch + 1 });
    },
    closeSession: (id, epoch, endedAt) => {
      if (close.run(endedAt, id, epoch) === 0) return false;
      if (endedAt === null) removeEmpty(id);
      return true;
    },
    putDiagnostics: ({ sessionId, gateway, epoch, diagnostics, problem }) => {
      const owner = owned.get(sessionId, gateway, epoch);
      if (!owner) return;
      insertRow(
        db,
        'diagnostics',
        { sessionId, diagnostics },
        'ON CONFLICT DO UPDATE SET diagnostics = excluded.diagnostics',
      );
      burden.run(problem, owner.accountId, owner.deviceId);
    },
    diagnostics: (id) =>
      fromJson<Diagnostics>(diagnosed.get(id)?.diagnostics ?? null, `the diagnostics of session ${id}`),
    streamingDevices: (query) => {
      const { sql, values } = streamingStatement(query);
      return db
        .prepare<StreamingRow>(sql)
        .all(...values)
        .map((row) => ({
          deviceId: row.deviceId,
          sessionId: row.id,
          diagnostics: fromJson<Diagnostics>(row.diagnostics, `the diagnostics of session ${row.id}`),
        }));
    },
    sessions: (query) => {
      const { sql, values } = sessionPage(query);
      const rows = db.prepare<SessionRow>(sql).all(...values);
      return pageOf('sessions', rows, query.limit, (row) => [row.startedAt, row.id], sessionOf);
    },
  };
}

/** Deletes a closed session that has no insights and beats any more; false if there is none. Call it within a write. */
export function emptySessionRemoval(db: Database): (id: string) => boolean {
  const remove = db.prepare(
    `DELETE FROM sessions WHERE id = ? AND status = 'closed' AND NOT EXISTS (SELECT 1 FROM insights WHERE session = n)
       AND NOT EXISTS (SELECT 1 FROM beats WHERE session = n)`,
  );
  const others = ['diagnostics', 'takeovers'].map((table) => db.prepare(`DELETE FROM ${table} WHERE sessionId = ?`));
  return (id) => {
    if (remove.run(id) === 0) return false;
    for (const other of others) other.run(id);
    return true;
  };
}

/** The statement for devices with an open session. Exported for the test of its index. */
export function streamingStatement({ accountId, prefix, limit }: StreamingQuery): { sql: string; values: Value[] } {
  const sql = `SELECT s.id, s.deviceId, d.diagnostics FROM sessions s INDEXED BY one_open_session_a_device
    LEFT JOIN diagnostics d ON d.sessionId = s.id
    WHERE s.accountId = ? AND s.status = 'open' AND s.deviceId >= ? AND s.deviceId < ? ORDER BY s.deviceId LIMIT ?`;
  return { sql, values: [accountId, prefix ?? '', `${prefix ?? ''}${AFTER_ALL}`, limit] };
}

/** The statement for a page of sessions, one row longer than the page. Exported for the test of its indexes. */
export function sessionPage(query: SessionQuery): { sql: string; values: Value[] } {
  const where = ['accountId = ?'];
  const values: Value[] = [query.accountId];
  const add = (condition: string, ...bound: Value[]) => {
    where.push(condition);
    values.push(...bound);
  };
  if (query.user !== null) add('user = ?', query.user);
  if (query.status !== null) add('status = ?', query.status);
  if (query.deviceId) add('deviceId = ?', query.deviceId);
  if (query.since) add('startedAt >= ?', query.since);
  // SQLite begins at the first of two bounds, however far it is from the other one: `+` keeps until from being that.
  if (query.until) add(`${query.cursor === null ? '' : '+'}startedAt < ?`, query.until);
  if (query.dataSince) add('data_end >= ?', query.dataSince);
  if (query.dataUntil) add('data_start < ?', query.dataUntil);
  if (query.cursor !== null) {
    const [startedAt, id] = decodeCursor('sessions', UUID, query.cursor);
    add('startedAt <= ? AND (startedAt < ? OR id > ?)', startedAt, startedAt, id);
  }
  // Few of what a user or a device has had are open: SQLite would read all of them.
  const index = query.status === 'open' ? 'INDEXED BY sessions_by_status' : '';
  const sql = `SELECT * FROM sessions ${index} WHERE ${where.join(' AND ')} ORDER BY startedAt DESC, id LIMIT ?`;
  return { sql, values: [...values, query.limit + 1] };
}

const ONE_OPEN = "ON CONFLICT (accountId, deviceId) WHERE status = 'open' DO NOTHING";

/** The number of a session's account: that of its first session, which is the number that the next session gets. */
const ACCOUNT = `SELECT ifnull((SELECT account FROM sessions WHERE accountId = ? LIMIT 1),
  (SELECT ifnull(max(seq), 0) + 1 FROM sqlite_sequence WHERE name = 'sessions')) AS account`;

function sessionClaim(db: Database): (row: SessionRow, gateway: string) => void {
  const take = db.prepare('UPDATE sessions SET gateway = ?, epoch = epoch + 1 WHERE id = ?');
  const tell = db.prepare('INSERT INTO takeovers (gateway, sessionId, epoch) VALUES (?, ?, ?)');
  const forget = db.prepare(
    `DELETE FROM takeovers WHERE rowid IN
      (SELECT rowid FROM takeovers WHERE sessionId = ? ORDER BY epoch DESC LIMIT -1 OFFSET ${TAKEOVERS_KEPT})`,
  );
  return (row, gateway) => {
    take.run(gateway, row.id);
    if (gateway === row.gateway) return;
    tell.run(row.gateway, row.id, row.epoch + 1);
    forget.run(row.id);
  };
}

interface StreamingRow {
  readonly id: string;
  readonly deviceId: string;
  readonly diagnostics: string | null;
}

/** A row of the table, which has more than the session: see `schema.ts`. */
export type SessionRow = Stored<Session> &
  Readonly<
    Record<'n' | 'account' | 'first_ts' | 'last_ts' | 'first_end' | 'last_end' | 'data_start' | 'data_end', Value>
  >;

const parsed = rowReader<Session>('session', ['channels', 'spo2Curve', 'algorithms', 'progress']);

export function sessionOf(row: SessionRow): Session {
  const { n, account, first_ts, last_ts, first_end, last_end, data_start, data_end, ...session } = row;
  return parsed(session);
}
