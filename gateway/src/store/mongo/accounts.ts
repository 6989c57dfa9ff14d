import type { Account, Key, Store } from '../store.js';
import { type MongoConnection, violates } from './connection.js';
import { documentOf, rowOf } from './rows.js';
import type { AccountDocument, KeyDocument, Models } from './schemas.js';

type Accounts = Pick<Store, 'createAccount' | 'account' | 'accountNamed' | 'accounts' | 'entitle'>;
type Keys = Pick<Store, 'addKey' | 'keyByHash' | 'keys' | 'revokeKey' | 'keysRevokedSince' | 'touchKeys'>;

/** The accounts of a MongoDB store. */
export function mongoAccounts(mongo: MongoConnection, { accounts }: Models): Accounts {
  const one = (found: AccountDocument | null): Account | null => found && rowOf(found);
  return {
    createAccount: (account) =>
      mongo.run(async () => {
        try {
          await accounts.create(documentOf(account));
          return account;
        } catch (error) {
          if (violates(error, 'name')) return null;
          throw error;
        }
      }),
    account: (id) => mongo.run(async () => one(await accounts.findById(id).lean<AccountDocument>())),
    accountNamed: (name) => mongo.run(async () => one(await accounts.findOne({ name }).lean<AccountDocument>())),
    accounts: () =>
      mongo.run(async () =>
        (await accounts.find().sort({ createdAt: 1, _id: 1 }).lean<AccountDocument[]>()).map(rowOf),
      ),
    entitle: (id, algorithms) =>
      mongo.run(async () =>
        one(
          await accounts
            .findByIdAndUpdate(id, { $set: { algorithms: algorithms && [...algorithms] } }, { returnDocument: 'after' })
            .lean<AccountDocument>(),
        ),
      ),
  };
}

/** The keys of a MongoDB store. */
export function mongoKeys(mongo: MongoConnection, { keys }: Models): Keys {
  const one = (found: KeyDocument | null): Key | null => found && rowOf(found);
  return {
    addKey: (key) =>
      mongo.run(async () => {
        await keys.create(documentOf(key));
      }),
    keyByHash: (hash) => mongo.run(async () => one(await keys.findOne({ hash }).lean<KeyDocument>())),
    keys: (accountId) =>
      mongo.run(async () =>
        (
          await keys
            .find(accountId === null ? {} : { accountId })
            .sort({ createdAt: 1, _id: 1 })
            .lean<KeyDocument[]>()
        ).map(rowOf),
      ),
    revokeKey: (id, at) =>
      mongo.run(async () => {
        await keys.updateOne({ _id: id, revokedAt: null }, { $set: { revokedAt: at } });
        return one(await keys.findById(id).lean<KeyDocument>());
      }),
    keysRevokedSince: (at) =>
      mongo.run(async () =>
        (
          await keys
            .find({ revokedAt: { $gte: at, $gt: 0 } })
            .sort({ revokedAt: 1 })
            .lean<KeyDocument[]>()
        ).map(rowOf),
      ),
    touchKeys: (ids, at) =>
      mongo.run(async () => {
        await keys.updateMany({ _id: { $in: [...ids] } }, { $max: { lastUsedAt: at } });
      }),
  };
}
