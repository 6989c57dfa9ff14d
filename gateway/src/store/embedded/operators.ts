import { decodeCursor, pageOf } from '../cursor.js';
import { type AuditEntry, type AuditStore, kindOf, type Login, type Operator, type OperatorStore } from '../store.js';
import type { Database } from './database.js';
import type { Calls } from './kinds.js';
import { insertRow } from './rows.js';

/** The dashboard's operators in an embedded store, and their logins. */
export function embeddedOperators(db: Database): Calls<OperatorStore> {
  const one = (id: string) => db.get<Operator>('SELECT * FROM operators WHERE id = ?', id) ?? null;
  return {
    addOperator: (operator) => insertRow(db, 'operators', operator, 'ON CONFLICT (name) DO NOTHING'),
    operatorNamed: (name) => db.get<Operator>('SELECT * FROM operators WHERE name = ?', name) ?? null,
    operators: () => db.all<Operator>('SELECT * FROM operators ORDER BY name'),
    setOperatorPassword: (id, password) => {
      db.run('UPDATE operators SET password = ?, revision = revision + 1 WHERE id = ?', password, id);
      return one(id);
    },
    removeOperator: (id) => {
      const row = one(id);
      db.run('DELETE FROM operators WHERE id = ?', id);
      return row;
    },
    addLogin: (login) => {
      db.run('DELETE FROM logins WHERE expiresAt <= ?', login.createdAt);
      insertRow(db, 'logins', login);
    },
    login: (hash) => {
      const login = db.get<Login>('SELECT * FROM logins WHERE hash = ?', hash);
      const operator = login ? one(login.operatorId) : null;
      return login && operator?.revision === login.revision ? { login, operator } : null;
    },
    endLogin: (hash) => void db.run('DELETE FROM logins WHERE hash = ?', hash),
  };
}

/** The audit log of an embedded store. */
export function embeddedAudit(db: Database): Calls<AuditStore> {
  return {
    audit: (entry, keep) => {
      const { kind, kept } = kindOf(entry);
      insertRow(db, 'audit', { ...entry, kind });
      const oldest = 'SELECT n FROM audit WHERE kind = ? ORDER BY n DESC LIMIT 1 OFFSET ?';
      db.run(`DELETE FROM audit WHERE kind = ? AND n <= (${oldest})`, kind, kind, keep ?? kept);
    },
    auditLog: ({ limit, cursor }) => {
      const [before] = cursor === null ? [Number.MAX_SAFE_INTEGER] : decodeCursor('audit', /^$/, cursor);
      const rows = db.all<Numbered>('SELECT * FROM audit WHERE n < ? ORDER BY n DESC LIMIT ?', before, limit + 1);
      return pageOf('audit', rows, limit, ({ n }) => [n, ''], entryOf);
    },
    signIns: () => db.all<Numbered>(`SELECT * FROM audit WHERE kind = 'sign-in' ORDER BY n`).map(entryOf),
  };
}

type Numbered = AuditEntry & { readonly n: number };

function entryOf({ at, actor, action, accountId, subject }: Numbered): AuditEntry {
  return { at, actor, action, accountId, subject };
}
