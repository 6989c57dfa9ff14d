import type { Account, ErasureStore } from '../store.js';
import type { Database, Value } from './database.js';
import type { Calls } from './kinds.js';
import { removeEmptySession } from './sessions.js';

/** The index by which the readings of an account are found, oldest first, and the primary key. */
const READINGS = {
  insights: { index: 'insights_by_time', id: 'session, type, ts' },
  beats: { index: 'beats_by_time', id: 'session, start' },
} as const;

/** Tables of which an account may have many rows, beside its sessions; each comes before the table that it refers to. */
const HOLDINGS = ['devices', 'device_models', 'idempotency'];

/** Erases data of an embedded store. */
export function embeddedErasure(db: Database): Calls<ErasureStore> {
  const some = (table: string, id: string, rows: string, ...values: Value[]) =>
    db.run(`DELETE FROM ${table} WHERE (${id}) IN (SELECT ${id} FROM ${table} ${rows} LIMIT ?)`, ...values);
  return {
    eraseReadings: (table, which, most) => {
      const { index, id } = READINGS[table];
      if ('sessionId' in which)
        return some(table, id, 'WHERE session = (SELECT n FROM sessions WHERE id = ?)', which.sessionId, most);
      const account = '(SELECT account FROM sessions WHERE accountId = ? LIMIT 1)';
      const rows = `INDEXED BY ${index} WHERE account = ${account} AND ts < ? ORDER BY ts`;
      return some(table, id, rows, which.accountId, which.before, most);
    },
    eraseSession: (id) => removeEmptySession(db, id),
    eraseKeys: (accountId, user, most) => {
      const rows = 'WHERE accountId = ? AND ifnull(user = ?, ? IS NULL) AND revokedAt IS NOT NULL';
      return some('keys', 'rowid', rows, accountId, user, user, most);
    },
    eraseAccount: (id, most) => {
      const unused = 'id = ? AND NOT EXISTS (SELECT 1 FROM sessions WHERE accountId = accounts.id)';
      if (!db.get<Pick<Account, 'id'>>(`SELECT id FROM accounts WHERE ${unused}`, id)) return null;
      let count = 0;
      for (const table of HOLDINGS) {
        const erased = some(table, 'rowid', 'WHERE accountId = ?', id, most - count);
        if (table === 'devices') db.run('UPDATE device_counts SET count = count - ? WHERE accountId = ?', erased, id);
        count += erased;
      }
      if (count === most) return count;
      for (const table of ['device_counts', 'keys']) db.run(`DELETE FROM ${table} WHERE accountId = ?`, id);
      db.run('DELETE FROM accounts WHERE id = ?', id);
      return count;
    },
  };
}
