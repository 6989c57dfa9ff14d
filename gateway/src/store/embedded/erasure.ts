import type { Account, ErasureStore } from '../store.js';
import { accountOf } from './accounts.js';
import type { Database } from './database.js';
import type { Stored } from './rows.js';

/** Deletes for good what an embedded store holds. */
export function embeddedErasure(db: Database): ErasureStore {
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
  const session = db.prepare(
    `DELETE FROM sessions WHERE id = ? AND status = 'closed'
       AND NOT EXISTS (SELECT 1 FROM insights WHERE session = sessions.n)
       AND NOT EXISTS (SELECT 1 FROM beats WHERE session = sessions.n)`,
  );
  const diagnostics = db.prepare('DELETE FROM diagnostics WHERE sessionId = ?');
  const takeovers = db.prepare('DELETE FROM takeovers WHERE sessionId = ?');
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
      db.write(() =>
        'sessionId' in which
          ? ofSession.run(which.sessionId, most)
          : ofAccount.run(which.accountId, which.before, most),
      ),
    eraseBeats: (which, most) =>
      db.write(() =>
        'sessionId' in which
          ? blocksOfSession.run(which.sessionId, most)
          : blocksOfAccount.run(which.accountId, which.before, most),
      ),
    eraseSession: (id) =>
      db.write(() => {
        if (session.run(id) === 0) return false;
        takeovers.run(id);
        diagnostics.run(id);
        return true;
      }),
    eraseKeys: (accountId, user, most) => db.write(() => keys.run(accountId, user, user, most)),
    eraseHoldings: (accountId, most) =>
      db.write(() => {
        if (!found.get(accountId)) return 0;
        let count = devices.run(accountId, most);
        uncount.run(count, accountId);
        for (const statement of [deviceModels, idempotency]) count += statement.run(accountId, most - count);
        return count;
      }),
    eraseAccount: (id) =>
      db.write(() => {
        const row = found.get(id);
        if (!row) return null;
        for (const statement of whole) statement.run(id);
        account.run(id);
        return accountOf(row);
      }),
  };
}
