import { UUID } from '../../uuid.js';
import { decodeCursor, pageOf } from '../cursor.js';
import type { Account, AccountStore, Key, KeyQuery, KeyStore, User, UserQuery } from '../store.js';
import type { Database, Statement, Value } from './database.js';
import type { Calls } from './kinds.js';
import { Conditions, insertRow, rowReader, type Stored } from './rows.js';

/** The accounts of an embedded store. */
export function embeddedAccounts(db: Database): Calls<AccountStore> {
  const one = (column: 'id' | 'name', value: string) => {
    const row = db.get<Stored<Account>>(`SELECT * FROM accounts WHERE ${column} = ?`, value);
    return row ? accountOf(row) : null;
  };
  return {
    createAccount: (account) => (insertRow(db, 'accounts', account, 'ON CONFLICT (name) DO NOTHING') ? account : null),
    account: (id) => one('id', id),
    accountNamed: (name) => one('name', name),
    accounts: () => db.all<Stored<Account>>('SELECT * FROM accounts ORDER BY createdAt, id').map(accountOf),
    entitle: (id, algorithms) => {
      db.run('UPDATE accounts SET algorithms = ? WHERE id = ?', algorithms && JSON.stringify(algorithms), id);
      return one('id', id);
    },
  };
}

/** The keys of an embedded store. */
export function embeddedKeys(db: Database): Calls<KeyStore> {
  const one = (column: 'id' | 'hash', value: string) => {
    const row = db.get<Stored<Key>>(`SELECT * FROM keys WHERE ${column} = ?`, value);
    return row ? keyOf(row) : null;
  };
  const all = (of: string | Statement, ...values: Value[]) => db.all<Stored<Key>>(of, ...values).map(keyOf);
  return {
    addKey: (key) => void insertRow(db, 'keys', key),
    key: (id) => one('id', id),
    replaceKey: (id, by, at) => {
      const replace = `UPDATE keys SET replacedBy = ?, expiresAt = min(ifnull(expiresAt, ?), ?)
        WHERE id = ? AND revokedAt IS NULL AND replacedBy IS NULL AND ifnull(expiresAt, ?) > ?`;
      if (db.run(replace, by.id, at, at, id, by.createdAt + 1, by.createdAt) === 0) return false;
      return insertRow(db, 'keys', by);
    },
    keyByHash: (hash) => one('hash', hash),
    keys: (accountId) =>
      accountId === null
        ? all('SELECT * FROM keys ORDER BY createdAt, rowid')
        : all('SELECT * FROM keys WHERE accountId = ? ORDER BY createdAt, rowid', accountId),
    revokeKey: (id, at) => {
      const newest = 'SELECT ifnull(max(revokedAt), 0) FROM keys WHERE revokedAt IS NOT NULL';
      db.run(`UPDATE keys SET revokedAt = max(?, (${newest})) WHERE id = ? AND revokedAt IS NULL`, at, id);
      return one('id', id);
    },
    labelKey: (id, label) => {
      db.run('UPDATE keys SET label = ? WHERE id = ?', label, id);
      return one('id', id);
    },
    keysRevokedSince: (at) => all('SELECT * FROM keys WHERE revokedAt >= ? ORDER BY revokedAt', at),
    touchKeys: (ids, at) => {
      for (const id of ids) db.run('UPDATE keys SET lastUsedAt = max(ifnull(lastUsedAt, 0), ?) WHERE id = ?', at, id);
    },
    keyPage: (query) => {
      const rows = db.all<Stored<Key>>(keyStatement(query));
      return pageOf('keys', rows, query.limit, ({ createdAt, id }) => [createdAt, id], keyOf);
    },
    users: (query) => {
      const rows = db.all<User>(userStatement(query));
      const place = ({ user }: User) => [0, user] as const;
      return pageOf('users', rows, query.limit, place, (user) => user);
    },
    subscribeKeys: (label) =>
      all(
        `SELECT * FROM keys WHERE subscribeOnly = 'true' AND label = ? AND revokedAt IS NULL ORDER BY createdAt, rowid`,
        label,
      ),
    forgetSubscribeKeys: (before) =>
      void db.run(`DELETE FROM keys WHERE subscribeOnly = 'true' AND expiresAt < ?`, before),
  };
}

/** The statement for a page of keys, one row longer than the page. Exported for the test of its indexes. */
export function keyStatement({ accountId, user, limit, cursor }: KeyQuery): Statement {
  const where = new Conditions().add("accountId = ? AND subscribeOnly = 'false'", accountId);
  if (user !== null) where.add('user = ?', user);
  if (cursor !== null) {
    const [createdAt, id] = decodeCursor('keys', UUID, cursor);
    where.add('createdAt <= ? AND (createdAt < ? OR id > ?)', createdAt, createdAt, id);
  }
  return where.statement('SELECT * FROM keys', 'ORDER BY createdAt DESC, id LIMIT ?', limit + 1);
}

/** The statement for a page of users, one row longer than the page. Exported for the test of its indexes. */
export function userStatement({ accountId, limit, cursor }: UserQuery): Statement {
  const [, after] = cursor === null ? [0, ''] : decodeCursor('users', /^/, cursor);
  const sql = `SELECT user, count(*) AS keys, max(lastUsedAt) AS lastUsedAt FROM keys
    WHERE accountId = ? AND user IS NOT NULL AND subscribeOnly = 'false' AND user > ? GROUP BY user ORDER BY user LIMIT ?`;
  return { sql, values: [accountId, after, limit + 1] };
}

export const accountOf = rowReader<Account>('account', ['algorithms']);
const keyOf = rowReader<Key>('key', ['permissions', 'subscribeOnly']);
