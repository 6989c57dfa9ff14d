import type { Account, Key, Store } from '../store.js';
import type { Database } from './database.js';
import { fromJson, toJson } from './json.js';

type Accounts = Pick<Store, 'createAccount' | 'account' | 'accountNamed' | 'accounts' | 'entitle'>;
type Keys = Pick<Store, 'addKey' | 'keyByHash' | 'keys' | 'revokeKey' | 'keysRevokedSince' | 'touchKeys'>;

/** The accounts of an embedded store. */
export function embeddedAccounts(db: Database): Accounts {
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
export function embeddedKeys(db: Database): Keys {
  const insert = db.prepare(
    `INSERT INTO keys (id, account_id, user, hash, prefix, last_four, created_at, last_used_at, revoked_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const byId = db.prepare<KeyRow>('SELECT * FROM keys WHERE id = ?');
  const byHash = db.prepare<KeyRow>('SELECT * FROM keys WHERE hash = ?');
  const ofAccount = db.prepare<KeyRow>('SELECT * FROM keys WHERE account_id = ? ORDER BY created_at, rowid');
  const all = db.prepare<KeyRow>('SELECT * FROM keys ORDER BY created_at, rowid');
  const revoke = db.prepare('UPDATE keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL');
  const revokedSince = db.prepare<KeyRow>('SELECT * FROM keys WHERE revoked_at >= ? ORDER BY revoked_at');
  const touch = db.prepare('UPDATE keys SET last_used_at = max(ifnull(last_used_at, 0), ?) WHERE id = ?');
  const one = (row: KeyRow | undefined) => (row ? keyOf(row) : null);
  return {
    addKey: (k) =>
      db.write(() => {
        insert.run(
          ...[k.id, k.accountId, k.user, k.hash, k.prefix, k.lastFour, k.createdAt, k.lastUsedAt, k.revokedAt],
        );
      }),
    keyByHash: (hash) => db.read(() => one(byHash.get(hash))),
    keys: (accountId) => db.read(() => (accountId === null ? all.all() : ofAccount.all(accountId)).map(keyOf)),
    revokeKey: (id, at) =>
      db.write(() => {
        revoke.run(at, id);
        return one(byId.get(id));
      }),
    keysRevokedSince: (at) => db.read(() => revokedSince.all(at).map(keyOf)),
    touchKeys: (ids, at) =>
      db.write(() => {
        for (const id of ids) touch.run(at, id);
      }),
  };
}

interface AccountRow {
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
}

function accountOf(row: AccountRow): Account {
  return { id: row.id, name: row.name, algorithms: fromJson<string[]>(row.algorithms), createdAt: row.created_at };
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
  };
}
