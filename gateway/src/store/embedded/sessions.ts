import { UUID } from '../../uuid.js';
import { decodeCursor, pageOf } from '../cursor.js';
import { AFTER_ALL } from '../device-order.js';
import type {
  Diagnostics,
  ModalityChannel,
  Session,
  SessionProgress,
  SessionQuery,
  SessionStore,
  StreamingQuery,
} from '../store.js';
import { TAKEOVERS_KEPT } from '../store.js';
import type { Database, Value } from './database.js';
import { fromJson, toJson } from './json.js';

/** The sessions of an embedded store. */
export function embeddedSessions(db: Database): SessionStore {
  const byId = db.prepare<SessionRow>('SELECT * FROM sessions WHERE id = ?');
  const openOf = db.prepare<SessionRow>(
    "SELECT * FROM sessions WHERE account_id = ? AND device_id = ? AND status = 'open'",
  );
  const close = db.prepare(
    `UPDATE sessions SET status = 'closed', ended_at = ifnull(?, started_at)
       WHERE id = ? AND epoch = ? AND status = 'open'`,
  );
  const removeEmpty = db.prepare(
    `DELETE FROM sessions WHERE id = ? AND status = 'closed' AND NOT EXISTS (SELECT 1 FROM insights WHERE session = n)
       AND NOT EXISTS (SELECT 1 FROM beats WHERE session = n)`,
  );
  const undiagnose = db.prepare('DELETE FROM diagnostics WHERE session_id = ?');
  const owned = db.prepare<{ account_id: string; device_id: string }>(
    'SELECT account_id, device_id FROM sessions WHERE id = ? AND gateway = ? AND epoch = ?',
  );
  const diagnose = db.prepare('INSERT OR REPLACE INTO diagnostics (session_id, diagnostics) VALUES (?, ?)');
  const burden = db.prepare('UPDATE devices SET problem = ? WHERE account_id = ? AND device_id = ?');
  const diagnosed = db.prepare<{ diagnostics: string }>('SELECT diagnostics FROM diagnostics WHERE session_id = ?');
  const insert = sessionInsert(db);
  const claim = sessionClaim(db);
  const one = (row: SessionRow | undefined) => (row ? sessionOf(row) : null);
  return {
    openSession: (session) => db.write(() => insert(session)),
    session: (id) => db.read(() => one(byId.get(id))),
    openSessionOf: (accountId, deviceId) => db.read(() => one(openOf.get(accountId, deviceId))),
    claimSession: (id, epoch, gateway) =>
      db.write(() => {
        const row = byId.get(id);
        if (row?.status !== 'open' || row.epoch !== epoch) return null;
        claim(row, gateway);
        return sessionOf({ ...row, gateway, epoch: epoch + 1 });
      }),
    closeSession: (id, epoch, endedAt) =>
      db.write(() => {
        if (close.run(endedAt, id, epoch) === 0) return false;
        if (endedAt === null && removeEmpty.run(id) === 1) undiagnose.run(id);
        return true;
      }),
    putDiagnostics: ({ sessionId, gateway, epoch, diagnostics, problem }) =>
      db.write(() => {
        const owner = owned.get(sessionId, gateway, epoch);
        if (!owner) return;
        diagnose.run(sessionId, JSON.stringify(diagnostics));
        burden.run(problem, owner.account_id, owner.device_id);
      }),
    diagnostics: (id) =>
      db.read(() => fromJson<Diagnostics>(diagnosed.get(id)?.diagnostics ?? null, `the diagnostics of session ${id}`)),
    streamingDevices: (query) =>
      db.read(() => {
        const { sql, values } = streamingStatement(query);
        return db
          .prepare<StreamingRow>(sql)
          .all(...values)
          .map((row) => ({
            deviceId: row.device_id,
            sessionId: row.id,
            diagnostics: fromJson<Diagnostics>(row.diagnostics, `the diagnostics of session ${row.id}`),
          }));
      }),
    sessions: async (query) => {
      const { sql, values } = sessionPage(query);
      const rows = await db.read(() => db.prepare<SessionRow>(sql).all(...values));
      return pageOf('sessions', rows, query.limit, (row) => [row.started_at, row.id], sessionOf);
    },
  };
}

/** The statement for devices with an open session. Exported for the test of its index. */
export function streamingStatement({ accountId, prefix, limit }: StreamingQuery): { sql: string; values: Value[] } {
  const sql = `SELECT s.id, s.device_id, d.diagnostics FROM sessions s INDEXED BY one_open_session_a_device
    LEFT JOIN diagnostics d ON d.session_id = s.id
    WHERE s.account_id = ? AND s.status = 'open' AND s.device_id >= ? AND s.device_id < ? ORDER BY s.device_id LIMIT ?`;
  return { sql, values: [accountId, prefix ?? '', `${prefix ?? ''}${AFTER_ALL}`, limit] };
}

/** The statement for a page of sessions, one row longer than the page. Exported for the test of its indexes. */
export function sessionPage(query: SessionQuery): { sql: string; values: Value[] } {
  const where = ['account_id = ?'];
  const values: Value[] = [query.accountId];
  const add = (condition: string, ...bound: Value[]) => {
    where.push(condition);
    values.push(...bound);
  };
  if (query.user !== null) add('user = ?', query.user);
  if (query.status !== null) add('status = ?', query.status);
  if (query.deviceId) add('device_id = ?', query.deviceId);
  if (query.since) add('started_at >= ?', query.since);
  // SQLite begins at the first of two bounds, however far it is from the other one: `+` keeps until from being that.
  if (query.until) add(`${query.cursor === null ? '' : '+'}started_at < ?`, query.until);
  if (query.dataSince) add('data_end >= ?', query.dataSince);
  if (query.dataUntil) add('data_start < ?', query.dataUntil);
  if (query.cursor !== null) {
    const [startedAt, id] = decodeCursor('sessions', UUID, query.cursor);
    add('started_at <= ? AND (started_at < ? OR id > ?)', startedAt, startedAt, id);
  }
  // Few of what a user or a device has had are open: SQLite would read all of them.
  const index = query.status === 'open' ? 'INDEXED BY sessions_by_status' : '';
  const sql = `SELECT * FROM sessions ${index} WHERE ${where.join(' AND ')} ORDER BY started_at DESC, id LIMIT ?`;
  return { sql, values: [...values, query.limit + 1] };
}

function sessionInsert(db: Database): (session: Session) => boolean {
  const insert = db.prepare(
    `INSERT INTO sessions (account, id, account_id, user, device_id, device_model_id, status, started_at, ended_at, gateway,
       epoch, channels, spo2_curve, algorithms, progress)
     VALUES (ifnull((SELECT account FROM sessions WHERE account_id = ? LIMIT 1), ${NEXT_NUMBER}),
       ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (account_id, device_id) WHERE status = 'open' DO NOTHING`,
  );
  return (s) =>
    insert.run(
      ...[s.accountId, s.id, s.accountId, s.user, s.deviceId, s.deviceModelId, s.status, s.startedAt, s.endedAt],
      ...[s.gateway, s.epoch, JSON.stringify(s.channels), toJson(s.spo2Curve), toJson(s.algorithms)],
      JSON.stringify(s.progress),
    ) === 1;
}

/** The number that the next session gets. */
const NEXT_NUMBER = "(SELECT ifnull(max(seq), 0) + 1 FROM sqlite_sequence WHERE name = 'sessions')";

function sessionClaim(db: Database): (row: SessionRow, gateway: string) => void {
  const take = db.prepare('UPDATE sessions SET gateway = ?, epoch = epoch + 1 WHERE id = ?');
  const tell = db.prepare('INSERT INTO takeovers (gateway, session_id, epoch) VALUES (?, ?, ?)');
  const forget = db.prepare(
    `DELETE FROM takeovers WHERE rowid IN
      (SELECT rowid FROM takeovers WHERE session_id = ? ORDER BY epoch DESC LIMIT -1 OFFSET ${TAKEOVERS_KEPT})`,
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
  readonly device_id: string;
  readonly diagnostics: string | null;
}

export interface SessionRow {
  readonly id: string;
  readonly account_id: string;
  readonly user: string | null;
  readonly device_id: string;
  readonly device_model_id: string;
  readonly status: 'open' | 'closed';
  readonly started_at: number;
  readonly ended_at: number | null;
  readonly gateway: string;
  readonly epoch: number;
  readonly channels: string;
  readonly spo2_curve: string | null;
  readonly algorithms: string | null;
  readonly progress: string;
}

export function sessionOf(row: SessionRow): Session {
  const name = `session ${row.id}`;
  return {
    id: row.id,
    accountId: row.account_id,
    user: row.user,
    deviceId: row.device_id,
    deviceModelId: row.device_model_id,
    status: row.status,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    gateway: row.gateway,
    epoch: row.epoch,
    channels: fromJson<ModalityChannel[]>(row.channels, name),
    spo2Curve: fromJson<number[]>(row.spo2_curve, name),
    algorithms: fromJson<string[]>(row.algorithms, name),
    progress: fromJson<SessionProgress>(row.progress, name),
  };
}
