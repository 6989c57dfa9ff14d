import { UUID } from '../../uuid.js';
import { decodeCursor, pageOf } from '../cursor.js';
import type { Account, AccountStore, Key, KeyQuery, KeyStore, User, UserQuery } from '../store.js';
import { isAdded, type MongoConnection } from './connection.js';
import type { AccountDocument } from './models/accounts.js';
import type { KeyDocument } from './models/keys.js';
import { after, documentOf, type Order, rowOf } from './rows.js';
import type { Models } from './schemas.js';

/** The accounts of a MongoDB store. */
export function mongoAccounts({ accounts }: Models): AccountStore {
  const one = (found: AccountDocument | null): Account | null => found && rowOf(found);
  return {
    createAccount: async (account) => ((await isAdded(accounts.create(documentOf(account)), 'name')) ? account : null),
    account: async (id) => one(await accounts.findById(id)),
    accountNamed: async (name) => one(await accounts.findOne({ name })),
    accounts: async () => (await accounts.find().sort({ createdAt: 1, _id: 1 })).map(rowOf),
    entitle: async (id, algorithms) =>
      one(
        await accounts.findByIdAndUpdate(
          id,
          { $set: { algorithms: algorithms && [...algorithms] } },
          { returnDocument: 'after' },
        ),
      ),
  };
}

/** The keys of a MongoDB store. */
export function mongoKeys(mongo: MongoConnection, { keys }: Models): KeyStore {
  const one = (found: KeyDocument | null): Key | null => found && rowOf(found);
  const newestRevocation = async () =>
    (await keys.findOne({ revokedAt: { $gt: 0 } }).sort({ revokedAt: -1 }))?.revokedAt ?? 0;
  return {
    addKey: async (key) => {
      await keys.create(documentOf(key));
    },
    key: async (id) => one(await keys.findById(id)),
    replaceKey: (id, by, at) =>
      mongo.transaction(async (session) => {
        const good = { _id: id, revokedAt: null, replacedBy: null };
        const old = await keys.findOne(good).session(session);
        if (!old || (old.expiresAt ?? Number.POSITIVE_INFINITY) <= by.createdAt) return false;
        const expiresAt = Math.min(old.expiresAt ?? at, at);
        await keys.updateOne(good, { $set: { replacedBy: by.id, expiresAt } }, { session });
        await keys.create([documentOf(by)], { session });
        return true;
      }),
    keyByHash: async (hash) => one(await keys.findOne({ hash })),
    keys: async (accountId) =>
      (await keys.find(accountId === null ? {} : { accountId }).sort({ createdAt: 1, _id: 1 })).map(rowOf),
    revokeKey: async (id, at) => {
      const { modifiedCount } = await keys.updateOne(
        { _id: id, revokedAt: null },
        { $set: { revokedAt: Math.max(at, await newestRevocation()) } },
      );
      // Another revocation may have been written meanwhile.
      if (modifiedCount === 1) await keys.updateOne({ _id: id }, { $max: { revokedAt: await newestRevocation() } });
      return one(await keys.findById(id));
    },
    labelKey: async (id, label) => one(await keys.findByIdAndUpdate(id, { label }, { returnDocument: 'after' })),
    keysRevokedSince: async (at) =>
      (await keys.find({ revokedAt: { $gte: at, $gt: 0 } }).sort({ revokedAt: 1 })).map(rowOf),
    touchKeys: async (ids, at) => {
      await keys.updateMany({ _id: { $in: [...ids] } }, { $max: { lastUsedAt: at } });
    },
    keyPage: async (query) => {
      const found = keys.find(keyFilter(query)).sort(KEYS);
      return pageOf(
        'keys',
        await found.limit(query.limit + 1),
        query.limit,
        ({ createdAt, _id }) => [createdAt, _id],
        rowOf,
      );
    },
    users: async (query) => {
      const match = userFilter(query);
      const documents = await keys.aggregate<UserDocument>([
        { $match: match },
        { $group: { _id: '$user', keys: { $sum: 1 }, lastUsedAt: { $max: '$lastUsedAt' } } },
        { $sort: { _id: 1 } },
        { $limit: query.limit + 1 },
      ]);
      return pageOf('users', documents, query.limit, ({ _id }) => [0, _id], userOf);
    },
    subscribeKeys: async (label) =>
      (await keys.find({ subscribeOnly: true, label, revokedAt: null }).sort({ createdAt: 1, _id: 1 })).map(rowOf),
    forgetSubscribeKeys: async (before) => {
      await keys.deleteMany({ subscribeOnly: true, expiresAt: { $lt: before } });
    },
  };
}

/** The filter of a page of keys. */
function keyFilter({ accountId, user, cursor }: KeyQuery) {
  return {
    accountId,
    subscribeOnly: { $ne: true },
    ...(user === null ? {} : { user }),
    ...(cursor === null ? {} : after(KEYS, decodeCursor('keys', UUID, cursor))),
  };
}

const KEYS: Order = { createdAt: -1, _id: 1 };

function userFilter({ accountId, cursor }: UserQuery) {
  const after = cursor === null ? '' : decodeCursor('users', /^/, cursor)[1];
  return { accountId, subscribeOnly: { $ne: true }, user: { $gt: after } };
}

interface UserDocument {
  readonly _id: string;
  readonly keys: number;
  readonly lastUsedAt?: number | null;
}

function userOf({ _id, keys, lastUsedAt }: UserDocument): User {
  return { user: _id, keys, lastUsedAt: lastUsedAt ?? null };
}
