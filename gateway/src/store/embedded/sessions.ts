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
import type { Database, Statement, Value } from './database.js';
import type { Calls } from './kinds.js';
import { Conditions, fromJson, insertRow, rowReader, type Stored } from './rows.js';

/** The sessions of an embedded store. */
export function embeddedSessions(db: Database): Calls<SessionStore> {
  const row = (id: string) => db.get<SessionRow>('SELECT * FROM sessions WHERE id = ?', id);
  const one = (found: SessionRow | undefined) => (found ? sessionOf(found) : null);
  return {
    openSession: (session) => {
      const number = db.get<{ account: number }>(ACCOUNT, session.accountId);
      return insertRow(db, 'sessions', { ...session, ...number }, ONE_OPEN);
    },
    session: (id) => one(row(id)),
    openSessionOf: (accountId, deviceId) => {
      const sql = `SELECT * FROM sessions WHERE accountId = ? AND deviceId = ? AND status = 'open'`;
      return one(db.get(sql, accountId, deviceId));
    },
    claimSession: (id, epoch, gateway) => {
      const found = row(id);
      if (found?.status !== 'open' || found.epoch !== epoch) return null;
      db.run('UPDATE sessions SET gateway = ?, epoch = epoch + 1 WHERE id = ?', gateway, id);
      if (gateway !== found.gateway) {
        insertRow(db, 'takeovers', { gateway: found.gateway, sessionId: id, epoch: epoch + 1 });
        const all = 'SELECT rowid FROM takeovers WHERE sessionId = ? ORDER BY epoch DESC LIMIT -1 OFFSET ?';
        db.run(`DELETE FROM takeovers WHERE rowid IN (${all})`, id, TAKEOVERS_KEPT);
      }
      return sessionOf({ ...found, gateway, epoch: epoch + 1 });
    },
    closeSession: (id, epoch, endedAt) => {
      const close = `UPDATE sessions SET status = 'closed', endedAt = ifnull(?, startedAt)
        WHERE id = ? AND epoch = ? AND status = 'open'`;
      if (db.run(close, endedAt, id, epoch) === 0) return false;
      if (endedAt === null) removeEmptySession(db, id);
      return true;
    },
    putDiagnostics: ({ sessionId, gateway, epoch, diagnostics, problem }) => {
      const found = row(sessionId);
      if (found?.gateway !== gateway || found.epoch !== epoch) return;
      const again = 'ON CONFLICT DO UPDATE SET diagnostics = excluded.diagnostics';
      insertRow(db, 'diagnostics', { sessionId, diagnostics }, again);
      const burden = 'UPDATE devices SET problem = ? WHERE accountId = ? AND deviceId = ?';
      db.run(burden, problem, found.accountId, found.deviceId);
    },
    diagnostics: (id) => {
      const found = db.get<{ diagnostics: string }>('SELECT diagnostics FROM diagnostics WHERE sessionId = ?', id);
      return diagnosticsOf({ id, diagnostics: found?.diagnostics ?? null });
    },
    streamingDevices: (query) =>
      db.all<StreamingRow>(streamingStatement(query)).map((found) => {
        return { deviceId: found.deviceId, sessionId: found.id, diagnostics: diagnosticsOf(found) };
      }),
    sessions: (query) => {
      const rows = db.all<SessionRow>(sessionPage(query));
      return pageOf('sessions', rows, query.limit, ({ startedAt, id }) => [startedAt, id], sessionOf);
    },
  };
}

function diagnosticsOf({ id, diagnostics }: Omit<StreamingRow, 'deviceId'>): Diagnostics | null {
  return fromJson(diagnostics, `the diagnostics of session ${id}`);
}

/** Deletes a closed session that has no insights and beats any more; false if there is none. Call it within a write. */
export function removeEmptySession(db: Database, id: string): boolean {
  const empty = ['insights', 'beats'].map((table) => `NOT EXISTS (SELECT 1 FROM ${table} WHERE session = n)`);
  const remove = `DELETE FROM sessions WHERE id = ? AND status = 'closed' AND ${empty.join(' AND ')}`;
  if (db.run(remove, id) === 0) return false;
  for (const table of ['diagnostics', 'takeovers']) db.run(`DELETE FROM ${table} WHERE sessionId = ?`, id);
  return true;
}

/** The statement for devices with an open session. Exported for the test of its index. */
export function streamingStatement({ accountId, prefix, limit }: StreamingQuery): Statement {
  const sql = `SELECT s.id, s.deviceId, d.diagnostics FROM sessions s INDEXED BY one_open_session_a_device
    LEFT JOIN diagnostics d ON d.sessionId = s.id
    WHERE s.accountId = ? AND s.status = 'open' AND s.deviceId >= ? AND s.deviceId < ? ORDER BY s.deviceId LIMIT ?`;
  return { sql, values: [accountId, prefix ?? '', `${prefix ?? ''}${AFTER_ALL}`, limit] };
}

/** The statement for a page of sessions, one row longer than the page. Exported for the test of its indexes. */
export function sessionPage(query: SessionQuery): Statement {
  const where = new Conditions().add('accountId = ?', query.accountId);
  if (query.user !== null) where.add('user = ?', query.user);
  if (query.status !== null) where.add('status = ?', query.status);
  if (query.deviceId) where.add('deviceId = ?', query.deviceId);
  if (query.since) where.add('startedAt >= ?', query.since);
  // SQLite begins at the first of two bounds, however far it is from the other one: `+` keeps until from being that.
  if (query.until) where.add(`${query.cursor === null ? '' : '+'}startedAt < ?`, query.until);
  if (query.dataSince) where.add('data_end >= ?', query.dataSince);
  if (query.dataUntil) where.add('data_start < ?', query.dataUntil);
  if (query.cursor !== null) {
    const [startedAt, id] = decodeCursor('sessions', UUID, query.cursor);
    where.add('startedAt <= ? AND (startedAt < ? OR id > ?)', startedAt, startedAt, id);
  }
  // Few of what a user or a device has had are open: SQLite would read all of them.
  const index = query.status === 'open' ? 'INDEXED BY sessions_by_status' : '';
  return where.statement(`SELECT * FROM sessions ${index}`, 'ORDER BY startedAt DESC, id LIMIT ?', query.limit + 1);
}

const ONE_OPEN = "ON CONFLICT (accountId, deviceId) WHERE status = 'open' DO NOTHING";

/** The number of a session's account: that of its first session, which is the number that the next session gets. */
const ACCOUNT = `SELECT ifnull((SELECT account FROM sessions WHERE accountId = ? LIMIT 1),
  (SELECT ifnull(max(seq), 0) + 1 FROM sqlite_sequence WHERE name = 'sessions')) AS account`;

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
