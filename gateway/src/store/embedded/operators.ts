import { decodeCursor, pageOf } from '../cursor.js';
import {
  AUDIT_KEPT,
  type AuditEntry,
  type AuditStore,
  type Login,
  type Operator,
  type OperatorStore,
  type Role,
  SIGN_IN_REFUSED,
  SIGN_INS_KEPT,
  SIGNED_IN,
} from '../store.js';
import type { Database } from './database.js';

/** The dashboard's operators in an embedded store, and their logins. */
export function embeddedOperators(db: Database): OperatorStore {
  const insert = db.prepare(
    `INSERT INTO operators (id, name, role, password, revision, created_at) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (name) DO NOTHING`,
  );
  const byId = db.prepare<OperatorRow>('SELECT * FROM operators WHERE id = ?');
  const byName = db.prepare<OperatorRow>('SELECT * FROM operators WHERE name = ?');
  const all = db.prepare<OperatorRow>('SELECT * FROM operators ORDER BY name');
  const reset = db.prepare('UPDATE operators SET password = ?, revision = revision + 1 WHERE id = ?');
  const remove = db.prepare('DELETE FROM operators WHERE id = ?');
  const one = (row: OperatorRow | undefined) => (row ? operatorOf(row) : null);
  return {
    addOperator: (o) => db.write(() => insert.run(o.id, o.name, o.role, o.password, o.revision, o.createdAt) === 1),
    operatorNamed: (name) => db.read(() => one(byName.get(name))),
    operators: () => db.read(() => all.all().map(operatorOf)),
    setOperatorPassword: (id, password) =>
      db.write(() => {
        reset.run(password, id);
        return one(byId.get(id));
      }),
    removeOperator: (id) =>
      db.write(() => {
        const row = byId.get(id);
        remove.run(id);
        return one(row);
      }),
    ...embeddedLogins(db),
  };
}

function embeddedLogins(db: Database): Pick<OperatorStore, 'addLogin' | 'login' | 'endLogin'> {
  const insert = db.prepare(
    'INSERT INTO logins (hash, operator_id, revision, created_at, expires_at) VALUES (?, ?, ?, ?, ?)',
  );
  const byHash = db.prepare<LoginRow>('SELECT * FROM logins WHERE hash = ?');
  const operator = db.prepare<OperatorRow>('SELECT * FROM operators WHERE id = ? AND revision = ?');
  const remove = db.prepare('DELETE FROM logins WHERE hash = ?');
  const forget = db.prepare('DELETE FROM logins WHERE expires_at <= ?');
  return {
    addLogin: (l) =>
      db.write(() => {
        forget.run(l.createdAt);
        insert.run(l.hash, l.operatorId, l.revision, l.createdAt, l.expiresAt);
      }),
    login: (hash) =>
      db.read(() => {
        const row = byHash.get(hash);
        const whose = row && operator.get(row.operator_id, row.revision);
        return row && whose ? { login: loginOf(row), operator: operatorOf(whose) } : null;
      }),
    endLogin: (hash) => db.write(() => void remove.run(hash)),
  };
}

/** The audit log of an embedded store. */
export function embeddedAudit(db: Database): AuditStore {
  const insert = db.prepare('INSERT INTO audit (at, actor, action, account_id, subject) VALUES (?, ?, ?, ?, ?)');
  const forget = db.prepare(
    `DELETE FROM audit WHERE is_sign_in = ? AND n <=
      (SELECT n FROM audit WHERE is_sign_in = ? ORDER BY n DESC LIMIT 1 OFFSET ?)`,
  );
  const forgetRefused = db.prepare(
    `DELETE FROM audit WHERE is_sign_in = 0 AND action = ? AND n <=
      (SELECT n FROM audit WHERE is_sign_in = 0 AND action = ? ORDER BY n DESC LIMIT 1 OFFSET ?)`,
  );
  const page = db.prepare<AuditRow>('SELECT * FROM audit WHERE n < ? ORDER BY n DESC LIMIT ?');
  const signIns = db.prepare<AuditRow>('SELECT * FROM audit WHERE is_sign_in = 1 ORDER BY n');
  return {
    audit: (e, keep) =>
      db.write(() => {
        insert.run(e.at, e.actor, e.action, e.accountId, e.subject);
        if (e.action === SIGN_IN_REFUSED) forgetRefused.run(e.action, e.action, keep ?? SIGN_INS_KEPT);
        else if (e.action === SIGNED_IN) forget.run(1, 1, keep ?? SIGN_INS_KEPT);
        else forget.run(0, 0, keep ?? AUDIT_KEPT);
      }),
    auditLog: async ({ limit, cursor }) => {
      const [before] = cursor === null ? [Number.MAX_SAFE_INTEGER] : decodeCursor('audit', /^$/, cursor);
      const rows = await db.read(() => page.all(before, limit + 1));
      return pageOf('audit', rows, limit, ({ n }) => [n, ''], entryOf);
    },
    signIns: () => db.read(() => signIns.all().map(entryOf)),
  };
}

interface OperatorRow {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly password: string;
  readonly revision: number;
  readonly created_at: number;
}

interface LoginRow {
  readonly hash: string;
  readonly operator_id: string;
  readonly revision: number;
  readonly created_at: number;
  readonly expires_at: number;
}

interface AuditRow {
  readonly n: number;
  readonly at: number;
  readonly actor: string;
  readonly action: string;
  readonly account_id: string | null;
  readonly subject: string;
}

function operatorOf({ id, name, role, password, revision, created_at: createdAt }: OperatorRow): Operator {
  return { id, name, role, password, revision, createdAt };
}

function loginOf({ hash, operator_id, revision, created_at, expires_at }: LoginRow): Login {
  return { hash, operatorId: operator_id, revision, createdAt: created_at, expiresAt: expires_at };
}

function entryOf({ at, actor, action, account_id: accountId, subject }: AuditRow): AuditEntry {
  return { at, actor, action, accountId, subject };
}
