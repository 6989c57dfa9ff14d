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
import { insertRow } from './rows.js';

/** The dashboard's operators in an embedded store, and their logins. */
export function embeddedOperators(db: Database): OperatorStore {
  const byId = db.prepare<Operator>('SELECT * FROM operators WHERE id = ?');
  const byName = db.prepare<Operator>('SELECT * FROM operators WHERE name = ?');
  const all = db.prepare<Operator>('SELECT * FROM operators ORDER BY name');
  const reset = db.prepare('UPDATE operators SET password = ?, revision = revision + 1 WHERE id = ?');
  const remove = db.prepare('DELETE FROM operators WHERE id = ?');
  return {
    addOperator: (operator) => db.write(() => insertRow(db, 'operators', operator, 'ON CONFLICT (name) DO NOTHING')),
    operatorNamed: (name) => db.read(() => byName.get(name) ?? null),
    operators: () => db.read(() => all.all()),
    setOperatorPassword: (id, password) =>
      db.write(() => {
        reset.run(password, id);
        return byId.get(id) ?? null;
      }),
    removeOperator: (id) =>
      db.write(() => {
        const row = byId.get(id) ?? null;
        remove.run(id);
        return row;
      }),
    ...embeddedLogins(db),
  };
}

function embeddedLogins(db: Database): Pick<OperatorStore, 'addLogin' | 'login' | 'endLogin'> {
  const byHash = db.prepare<Login>('SELECT * FROM logins WHERE hash = ?');
  const operator = db.prepare<Operator>('SELECT * FROM operators WHERE id = ? AND revision = ?');
  const remove = db.prepare('DELETE FROM logins WHERE hash = ?');
  const forget = db.prepare('DELETE FROM logins WHERE expiresAt <= ?');
  return {
    addLogin: (login) =>
      db.write(() => {
        forget.run(login.createdAt);
        insertRow(db, 'logins', login);
      }),
    login: (hash) =>
      db.read(() => {
        const login = byHash.get(hash);
        const whose = login && operator.get(login.operatorId, login.revision);
        return whose ? { login, operator: whose } : null;
      }),
    endLogin: (hash) => db.write(() => void remove.run(hash)),
  };
}

/** The audit log of an embedded store. */
export function embeddedAudit(db: Database): AuditStore {
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
    audit: (entry, keep) =>
      db.write(() => {
        insertRow(db, 'audit', entry);
        if (entry.action === SIGN_IN_REFUSED) forgetRefused.run(entry.action, entry.action, keep ?? SIGN_INS_KEPT);
        else if (entry.action === SIGNED_IN) forget.run(1, 1, keep ?? SIGN_INS_KEPT);
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

type NumberedEntry = AuditEntry & { readonly n: number };

function entryOf({ at, actor, action, accountId, subject }: NumberedEntry): AuditEntry {
  return { at, actor, action, accountId, subject };
}
