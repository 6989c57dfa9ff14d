import { decodeCursor, pageOf } from '../cursor.js';
import {
  AUDIT_KEPT,
  type AuditEntry,
  type AuditStore,
  type Login,
  type Operator,
  type OperatorStore,
  SIGN_IN_REFUSED,
  SIGN_INS_KEPT,
  SIGNED_IN,
} from '../store.js';
import type { Database } from './database.js';
import type { Calls } from './kinds.js';
import { insertRow } from './rows.js';

/** The dashboard's operators in an embedded store, and their logins. */
export function embeddedOperators(db: Database): Calls<OperatorStore> {
  const byId = db.prepare<Operator>('SELECT * FROM operators WHERE id = ?');
  const byName = db.prepare<Operator>('SELECT * FROM operators WHERE name = ?');
  const all = db.prepare<Operator>('SELECT * FROM operators ORDER BY name');
  const reset = db.prepare('UPDATE operators SET password = ?, revision = revision + 1 WHERE id = ?');
  const remove = db.prepare('DELETE FROM operators WHERE id = ?');
  return {
    addOperator: (operator) => insertRow(db, 'operators', operator, 'ON CONFLICT (name) DO NOTHING'),
    operatorNamed: (name) => byName.get(name) ?? null,
    operators: () => all.all(),
    setOperatorPassword: (id, password) => {
      reset.run(password, id);
      return byId.get(id) ?? null;
    },
    removeOperator: (id) => {
      const row = byId.get(id) ?? null;
      remove.run(id);
      return row;
    },
    ...embeddedLogins(db),
  };
}

function embeddedLogins(db: Database): Calls<Pick<OperatorStore, 'addLogin' | 'login' | 'endLogin'>> {
  const byHash = db.prepare<Login>('SELECT * FROM logins WHERE hash = ?');
  const operator = db.prepare<Operator>('SELECT * FROM operators WHERE id = ? AND revision = ?');
  const remove = db.prepare('DELETE FROM logins WHERE hash = ?');
  const forget = db.prepare('DELETE FROM logins WHERE expiresAt <= ?');
  return {
    addLogin: (login) => {
      forget.run(login.createdAt);
      insertRow(db, 'logins', login);
    },
    login: (hash) => {
      const login = byHash.get(hash);
      const whose = login && operator.get(login.operatorId, login.revision);
      return whose ? { login, operator: whose } : null;
    },
    endLogin: (hash) => void remove.run(hash),
  };
}

/** The audit log of an embedded store. */
export function embeddedAudit(db: Database): Calls<AuditStore> {
  const forget = db.prepare(
    `DELETE FROM audit WHERE is_sign_in = ? AND n <=
      (SELECT n FROM audit WHERE is_sign_in = ? ORDER BY n DESC LIMIT 1 OFFSET ?)`,
  );
  const forgetRefused = db.prepare(
    `DELETE FROM audit WHERE is_sign_in = 0 AND action = ? AND n <=
      (SELECT n FROM audit WHERE is_sign_in = 0 AND action = ? ORDER BY n DESC LIMIT 1 OFFSET ?)`,
  );
  const page = db.prepare<NumberedEntry>('SELECT * FROM audit WHERE n < ? ORDER BY n DESC LIMIT ?');
  const signIns = db.prepare<NumberedEntry>('SELECT * FROM audit WHERE is_sign_in = 1 ORDER BY n');
  return {
    audit: (entry, keep) => {
      insertRow(db, 'audit', entry);
      if (entry.action === SIGN_IN_REFUSED) forgetRefused.run(entry.action, entry.action, keep ?? SIGN_INS_KEPT);
      else if (entry.action === SIGNED_IN) forget.run(1, 1, keep ?? SIGN_INS_KEPT);
      else forget.run(0, 0, keep ?? AUDIT_KEPT);
    },
    auditLog: ({ limit, cursor }) => {
      const [before] = cursor === null ? [Number.MAX_SAFE_INTEGER] : decodeCursor('audit', /^$/, cursor);
      const rows = page.all(before, limit + 1);
      return pageOf('audit', rows, limit, ({ n }) => [n, ''], entryOf);
    },
    signIns: () => signIns.all().map(entryOf),
  };
}

type NumberedEntry = AuditEntry & { readonly n: number };

function entryOf({ at, actor, action, accountId, subject }: NumberedEntry): AuditEntry {
  return { at, actor, action, accountId, subject };
}
