import { UUID } from '../../uuid.js';
import { decodeCursor, pageOf } from '../cursor.js';
import type { Account, AccountStore, Key, KeyQuery, KeyStore, User, UserQuery } from '../store.js';
import type { Database, Value } from './database.js';
import type { Calls } from './kinds.js';
import { insertRow, rowReader, type Stored } from './rows.js';

/** The accounts of an embedded store. */
export function embeddedAccounts(db: Database): Calls<AccountStore> {
  const byId = db.prepare<Stored<Account>>('SELECT * FROM accounts WHERE id = ?');
  const byName = db.prepare<Stored<Account>>('SELECT * FROM accounts WHERE name = ?');
  const all = db.prepare<Stored<Account>>('SELECT * FROM accounts ORDER BY createdAt, id');
  const entitle = db.prepare('UPDATE accounts SET algorithms = ? WHERE id = ?');
  const one = (row: Stored<Account> | undefined) => (row ? accountOf(row) : null);
  return {
    createAccount: (account) => (insertRow(db, 'accounts', account, 'ON CONFLICT (name) DO NOTHING') ? account : null),
    account: (id) => one(byId.get(id)),
    accountNamed: (name) => one(byName.get(name)),
    accounts: () => all.all().map(accountOf),
    entitle: (id, algorithms) => {
      entitle.run(algorithms && JSON.stringify(algorithms), id);
      return one(byId.get(id));
    },
  };
}

/** The keys of an embedded store. */
export function embeddedKeys(db: Database): Calls<KeyStore> {
  const byId = db.prepare<Stored<Key>>('SELECT * FROM keys WHERE id = ?');
  const byHash = db.prepare<Stored<Key>>('SELECT * FROM keys WHERE hash = ?');
  const ofAccount = db.prepare<Stored<Key>>('SELECT * FROM keys WHERE accountId = ? ORDER BY createdAt, rowid');
  const all = db.prepare<Stored<Key>>('SELECT * FROM keys ORDER BY createdAt, rowid');
  const revoke = db.prepare(
    `UPDATE keys SET revokedAt = max(?, (SELECT ifnull(max(revokedAt), 0) FROM keys WHERE revokedAt IS NOT NULL))
       WHERE id = ? AND revokedAt IS NULL`,
  );
  const revokedSince = db.prepare<Stored<Key>>('SELECT * FROM keys WHERE revokedAt >= ? ORDER BY revokedAt');
  const touch = db.prepare('UPDATE keys SET lastUsedAt = max(ifnull(lastUsedAt, 0), ?) WHERE id = ?');
  const label = db.prepare('UPDATE keys SET label = ? WHERE id = ?');
  const subscribe = db.prepare<Stored<Key>>(
    `SELECT * FROM keys WHERE subscribeOnly = 'true' AND label = ? AND revokedAt IS NULL ORDER BY createdAt, rowid`,
  );
  const forget = db.prepare(`DELETE FROM keys WHERE subscribeOnly = 'true' AND expiresAt < ?`);
  const one = (row: Stored<Key> | undefined) => (row ? keyOf(row) : null);
  const replace = db.prepare(
    `UPDATE keys SET replacedBy = ?, expiresAt = min(ifnull(expiresAt, ?), ?)
       WHERE id = ? AND revokedAt IS NULL AND replacedBy IS NULL AND ifnull(expiresAt, ?) > ?`,
  );
  return {
    addKey: (key) => void insertRow(db, 'keys', key),
    key: (id) => one(byId.get(id)),
    replaceKey: (id, by, at) => {
      if (replace.run(by.id, at, at, id, by.createdAt + 1, by.createdAt) === 0) return false;
      return insertRow(db, 'keys', by);
    },
    keyByHash: (hash) => one(byHash.get(hash)),
    keys: (accountId) => (accountId === null ? all.all() : ofAccount.all(accountId)).map(keyOf),
    revokeKey: (id, at) => {
      revoke.run(at, id);
      return one(byId.get(id));
    },
    labelKey: (id, text) => {
      label.run(text, id);
      return one(byId.get(id));
    },
    keysRevokedSince: (at) => revokedSince.all(at).map(keyOf),
    touchKeys: (ids, at) => {
      for (const id of ids) touch.run(at, id);
    },
    keyPage: (query) => {
      const { sql, values } = keyStatement(query);
      const rows = db.prepare<Stored<Key>>(sql).all(...values);
      return pageOf('keys', rows, query.limit, ({ createdAt, id }) => [createdAt, id], keyOf);
    },
    users: (query) => {
      const { sql, values } = userStatement(query);
      const rows = db.prepare<User>(sql).all(...values);
      return pageOf(
        'users',
        rows,
        query.limit,
        ({ user }) => [0, user],
        (user) => user,
      );
    },
    subscribeKeys: (text) => subscribe.all(text).map(keyOf),
    forgetSubscribeKeys: (before) => void forget.run(before),
  };
}

/** The statement for a page of keys, one row longer than the page. Exported for the test of its indexes. */
export function keyStatement({ accountId, user, limit, cursor }: KeyQuery): { sql: string; values: Value[] } {
  const where = ['accountId = ?', "subscribeOnly = 'false'"];
  const values: Value[] = [accountId];
  if (user !== null) {
    where.push('user = ?');
    values.push(user);
  }
  if (cursor !== null) {
    const [createdAt, id] = decodeCursor('keys', UUID, cursor);
    where.push('createdAt <= ? AND (createdAt < ? OR id > ?)');
    values.push(createdAt, createdAt, id);
  }
  const sql = `SELECT * FROM keys WHERE ${where.join(' AND ')} ORDER BY createdAt DESC, id LIMIT ?`;
  return { sql, values: [...values, limit + 1] };
}

/** The statement for a page of users, one row longer than the page. Exported for the test of its indexes. */
export function userStatement({ accountId, limit, cursor }: UserQuery): { sql: string; values: Value[] } {
  const [, after] = cursor === null ? [0, ''] : decodeCursor('users', /^/, cursor);
  const sql = `SELECT user, count(*) AS keys, max(lastUsedAt) AS lastUsedAt FROM keys
    WHERE accountId = ? AND user IS NOT NULL AND subscribeOnly = 'false' AND user > ? GROUP BY user ORDER BY user LIMIT ?`;
  return { sql, values: [accountId, after, limit + 1] };
}

export const accountOf = rowReader<Account>('account', ['algorithms']);
const keyOf = rowReader<Key>('key', ['permissions', 'subscribeOnly']);
