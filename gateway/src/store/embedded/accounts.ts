import { PERMISSIONS } from '@device-insights/fanout/key-check';
import { UUID } from '../../uuid.js';
import { decodeCursor, pageOf } from '../cursor.js';
import type { Account, AccountStore, Key, KeyQuery, KeyStore, User, UserQuery } from '../store.js';
import type { Database, Value } from './database.js';
import { fromJson, toJson } from './json.js';

/** The accounts of an embedded store. */
export function embeddedAccounts(db: Database): AccountStore {
  const insert = db.prepare(
    'INSERT INTO accounts (id, name, algorithms, created_at) VALUES (?, ?, ?, ?) ON CONFLICT (name) DO NOTHING',
  );
  const byId = db.prepare<AccountRow>('SELECT * FROM accounts WHERE id = ?');
  const byName = db.prepare<AccountRow>('SELECT * FROM accounts WHERE name = ?');
  const all = db.prepare<AccountRow>('SELECT * FROM accounts ORDER BY created_at, id');
  const entitle = db.prepare('UPDATE accounts SET algorithms = ? WHERE id = ?');
  const one = (row: AccountRow | undefined) => (row ? accountOf(row) : null);
  return {
    createAccount: (a) =>
      db.write(() => (insert.run(a.id, a.name, toJson(a.algorithms), a.createdAt) === 1 ? a : null)),
    account: (id) => db.read(() => one(byId.get(id))),
    accountNamed: (name) => db.read(() => one(byName.get(name))),
    accounts: () => db.read(() => all.all().map(accountOf)),
    entitle: (id, algorithms) =>
      db.write(() => {
        entitle.run(toJson(algorithms), id);
        return one(byId.get(id));
      }),
  };
}

/** The keys of an embedded store. */
export function embeddedKeys(db: Database): KeyStore {
  const insert = db.prepare(
    `INSERT INTO keys (id, account_id, user, hash, prefix, last_four, created_at, last_used_at, revoked_at, expires_at,
       subscribe_only, replaced_by, permissions, label)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const byId = db.prepare<KeyRow>('SELECT * FROM keys WHERE id = ?');
  const byHash = db.prepare<KeyRow>('SELECT * FROM keys WHERE hash = ?');
  const ofAccount = db.prepare<KeyRow>('SELECT * FROM keys WHERE account_id = ? ORDER BY created_at, rowid');
  const all = db.prepare<KeyRow>('SELECT * FROM keys ORDER BY created_at, rowid');
  const revoke = db.prepare(
    `UPDATE keys SET revoked_at = max(?, (SELECT ifnull(max(revoked_at), 0) FROM keys WHERE revoked_at IS NOT NULL))
       WHERE id = ? AND revoked_at IS NULL`,
  );
  const revokedSince = db.prepare<KeyRow>('SELECT * FROM keys WHERE revoked_at >= ? ORDER BY revoked_at');
  const touch = db.prepare('UPDATE keys SET last_used_at = max(ifnull(last_used_at, 0), ?) WHERE id = ?');
  const label = db.prepare('UPDATE keys SET label = ? WHERE id = ?');
  const subscribe = db.prepare<KeyRow>(
    'SELECT * FROM keys WHERE subscribe_only = 1 AND label = ? AND revoked_at IS NULL ORDER BY created_at, rowid',
  );
  const forget = db.prepare('DELETE FROM keys WHERE subscribe_only = 1 AND expires_at < ?');
  const one = (row: KeyRow | undefined) => (row ? keyOf(row) : null);
  const replace = db.prepare(
    `UPDATE keys SET replaced_by = ?, expires_at = min(ifnull(expires_at, ?), ?)
       WHERE id = ? AND revoked_at IS NULL AND replaced_by IS NULL AND ifnull(expires_at, ?) > ?`,
  );
  const add = (k: Key) =>
    insert.run(
      ...[k.id, k.accountId, k.user, k.hash, k.prefix, k.lastFour, k.createdAt, k.lastUsedAt, k.revokedAt],
      ...[k.expiresAt, k.subscribeOnly ? 1 : 0, k.replacedBy, k.permissions.join(), k.label],
    );
  return {
    addKey: (k) => db.write(() => void add(k)),
    key: (id) => db.read(() => one(byId.get(id))),
    replaceKey: (id, by, at) =>
      db.write(() => {
        if (replace.run(by.id, at, at, id, by.createdAt + 1, by.createdAt) === 0) return false;
        add(by);
        return true;
      }),
    keyByHash: (hash) => db.read(() => one(byHash.get(hash))),
    keys: (accountId) => db.read(() => (accountId === null ? all.all() : ofAccount.all(accountId)).map(keyOf)),
    revokeKey: (id, at) =>
      db.write(() => {
        revoke.run(at, id);
        return one(byId.get(id));
      }),
    labelKey: (id, text) =>
      db.write(() => {
        label.run(text, id);
        return one(byId.get(id));
      }),
    keysRevokedSince: (at) => db.read(() => revokedSince.all(at).map(keyOf)),
    touchKeys: (ids, at) =>
      db.write(() => {
        for (const id of ids) touch.run(at, id);
      }),
    keyPage: async (query) => {
      const { sql, values } = keyStatement(query);
      const rows = await db.read(() => db.prepare<KeyRow>(sql).all(...values));
      return pageOf('keys', rows, query.limit, (row) => [row.created_at, row.id], keyOf);
    },
    users: async (query) => {
      const { sql, values } = userStatement(query);
      const rows = await db.read(() => db.prepare<UserRow>(sql).all(...values));
      return pageOf('users', rows, query.limit, ({ user }) => [0, user], userOf);
    },
    subscribeKeys: (text) => db.read(() => subscribe.all(text).map(keyOf)),
    forgetSubscribeKeys: (before) => db.write(() => void forget.run(before)),
  };
}

/** The statement for a page of keys, one row longer than the page. Exported for the test of its indexes. */
export function keyStatement({ accountId, user, limit, cursor }: KeyQuery): { sql: string; values: Value[] } {
  const where = ['account_id = ?', 'subscribe_only = 0'];
  const values: Value[] = [accountId];
  if (user !== null) {
    where.push('user = ?');
    values.push(user);
  }
  if (cursor !== null) {
    const [createdAt, id] = decodeCursor('keys', UUID, cursor);
    where.push('created_at <= ? AND (created_at < ? OR id > ?)');
    values.push(createdAt, createdAt, id);
  }
  const sql = `SELECT * FROM keys WHERE ${where.join(' AND ')} ORDER BY created_at DESC, id LIMIT ?`;
  return { sql, values: [...values, limit + 1] };
}

/** The statement for a page of users, one row longer than the page. Exported for the test of its indexes. */
export function userStatement({ accountId, limit, cursor }: UserQuery): { sql: string; values: Value[] } {
  const [, after] = cursor === null ? [0, ''] : decodeCursor('users', /^/, cursor);
  const sql = `SELECT user, count(*) AS keys, max(last_used_at) AS last_used_at FROM keys
    WHERE account_id = ? AND user IS NOT NULL AND subscribe_only = 0 AND user > ? GROUP BY user ORDER BY user LIMIT ?`;
  return { sql, values: [accountId, after, limit + 1] };
}

interface UserRow {
  readonly user: string;
  readonly keys: number;
  readonly last_used_at: number | null;
}

export interface AccountRow {
  readonly id: string;
  readonly name: string;
  readonly algorithms: string | null;
  readonly created_at: number;
}

interface KeyRow {
  readonly id: string;
  readonly account_id: string;
  readonly user: string | null;
  readonly hash: string;
  readonly prefix: string;
  readonly last_four: string;
  readonly created_at: number;
  readonly last_used_at: number | null;
  readonly revoked_at: number | null;
  readonly expires_at: number | null;
  readonly subscribe_only: number;
  readonly replaced_by: string | null;
  readonly permissions: string;
  readonly label: string;
}

export function accountOf(row: AccountRow): Account {
  return {
    id: row.id,
    name: row.name,
    algorithms: fromJson<string[]>(row.algorithms, `account ${row.id}`),
    createdAt: row.created_at,
  };
}

function userOf({ user, keys, last_used_at }: UserRow): User {
  return { user, keys, lastUsedAt: last_used_at };
}

function keyOf(row: KeyRow): Key {
  return {
    id: row.id,
    accountId: row.account_id,
    user: row.user,
    hash: row.hash,
    prefix: row.prefix,
    lastFour: row.last_four,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    revokedAt: row.revoked_at,
    expiresAt: row.expires_at,
    subscribeOnly: row.subscribe_only === 1,
    replacedBy: row.replaced_by,
    permissions: PERMISSIONS.filter((permission) => row.permissions.split(',').includes(permission)),
    label: row.label,
  };
}
