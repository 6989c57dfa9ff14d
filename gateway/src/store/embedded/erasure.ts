import type { Account, ErasureStore } from '../store.js';
import { accountOf } from './accounts.js';
import type { Database } from './database.js';
import type { Calls } from './kinds.js';
import type { Stored } from './rows.js';
import { emptySessionRemoval } from './sessions.js';

/** Deletes for good what an embedded store holds. */
export function embeddedErasure(db: Database): Calls<ErasureStore> {
  const erase = (found: string) =>
    db.prepare(
      `DELETE FROM insights WHERE (session, type, ts) IN (SELECT session, type, ts FROM insights i ${found} LIMIT ?)`,
    );
  const ofSession = erase('WHERE session = (SELECT n FROM sessions WHERE id = ?)');
  const ofAccount = erase(
    `INDEXED BY insights_by_time
       WHERE account = (SELECT account FROM sessions WHERE accountId = ? LIMIT 1) AND ts < ? ORDER BY ts`,
  );
  const eraseBlocks = (found: string) =>
    db.prepare(`DELETE FROM beats WHERE (session, start) IN (SELECT session, start FROM beats ${found} LIMIT ?)`);
  const blocksOfSession = eraseBlocks('WHERE session = (SELECT n FROM sessions WHERE id = ?)');
  const blocksOfAccount = eraseBlocks(
    `INDEXED BY beats_by_time
       WHERE account = (SELECT account FROM sessions WHERE accountId = ? LIMIT 1) AND ts < ? ORDER BY ts`,
  );
  const keys = db.prepare(
    `DELETE FROM keys WHERE rowid IN (SELECT rowid FROM keys
       WHERE accountId = ? AND ifnull(user = ?, ? IS NULL) AND revokedAt IS NOT NULL LIMIT ?)`,
  );
  const found = db.prepare<Stored<Account>>(
    'SELECT * FROM accounts WHERE id = ? AND NOT EXISTS (SELECT 1 FROM sessions WHERE accountId = accounts.id)',
  );
  const some = (table: string) =>
    db.prepare(`DELETE FROM ${table} WHERE rowid IN (SELECT rowid FROM ${table} WHERE accountId = ? LIMIT ?)`);
  const [devices, deviceModels, idempotency] = [some('devices'), some('device_models'), some('idempotency')];
  const uncount = db.prepare('UPDATE device_counts SET count = count - ? WHERE accountId = ?');
  const whole = ['devices', 'device_counts', 'device_models', 'idempotency', 'keys'].map((table) =>
    db.prepare(`DELETE FROM ${table} WHERE accountId = ?`),
  );
  const account = db.prepare('DELETE FROM accounts WHERE id = ?');
  return {
    eraseInsights: (which, most) =>
      'sessionId' in which ? ofSession.run(which.sessionId, most) : ofAccount.run(which.accountId, which.before, most),
    eraseBeats: (which, most) =>
      'sessionId' in which
        ? blocksOfSession.run(which.sessionId, most)
        : blocksOfAccount.run(which.accountId, which.before, most),
    eraseSession: emptySessionRemoval(db),
    eraseKeys: (accountId, user, most) => keys.run(accountId, user, user, most),
    eraseHoldings: (accountId, most) => {
      if (!found.get(accountId)) return 0;
      let count = devices.run(accountId, most);
      uncount.run(count, accountId);
      for (const statement of [deviceModels, idempotency]) count += statement.run(accountId, most - count);
      return count;
    },
    eraseAccount: (id) => {
      const row = found.get(id);
      if (!row) return null;
      for (const statement of whole) statement.run(id);
      account.run(id);
      return accountOf(row);
    },
  };
}
