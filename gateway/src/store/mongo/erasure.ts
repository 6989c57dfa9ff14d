import type { ClientSession, Model, QueryFilter } from 'mongoose';
import type { ErasureStore } from '../store.js';
import type { MongoConnection } from './connection.js';
import { counterOf, countersOf } from './counters.js';
import type { Models } from './schemas.js';

/** Erases data of a MongoDB store. */
export function mongoErasure(mongo: MongoConnection, models: Models): ErasureStore {
  const { accounts, beats, counters, deviceModels, devices, diagnostics, idempotency, insights, keys, sessions } =
    models;
  return {
    eraseReadings: (what, which, most) => {
      const ofSession = 'sessionId' in which;
      const rows = ofSession
        ? { session_id: which.sessionId }
        : { accountId: which.accountId, ts: { $lt: which.before } };
      const order = ofSession ? {} : ({ sort: { ts: 1, _id: 1 } } as const);
      return what === 'insights' ? some(insights, rows, most, order) : some(beats, rows, most, order);
    },
    eraseSession: (id) =>
      mongo.transaction(async (session) => {
        // Written, and so locked, before the insights are looked for: its last owner may still add some.
        const locked = await sessions.updateOne({ _id: id, status: 'closed' }, { $inc: { commits: 1 } }, { session });
        if (locked.modifiedCount === 0) return false;
        if (await insights.exists({ session_id: id }).session(session)) return false;
        if (await beats.exists({ session_id: id }).session(session)) return false;
        await diagnostics.deleteOne({ _id: id }, { session });
        return (await sessions.deleteOne({ _id: id }, { session })).deletedCount === 1;
      }),
    eraseKeys: (accountId, user, most) =>
      some(keys, { accountId, ...(user !== null && { user }), revokedAt: { $gt: 0 } }, most),
    eraseAccount: async (accountId, most) => {
      const unused = (await accounts.exists({ _id: accountId })) && !(await sessions.exists({ accountId }));
      if (!unused) return null;
      let count = await mongo.transaction(async (session) => {
        const ofDevices = await some(devices, { accountId }, most, { session });
        const _id = counterOf(accountId, 'devices');
        await counters.updateOne({ _id }, { $inc: { count: -ofDevices } }, { session });
        return ofDevices;
      });
      if (count < most) count += await some(deviceModels, { accountId }, most - count);
      if (count < most) count += await some(idempotency, { accountId }, most - count);
      if (count === most) return count;
      await keys.deleteMany({ accountId });
      await counters.deleteMany({ _id: { $in: countersOf(accountId) } });
      await accounts.deleteOne({ _id: accountId }); // Last: what a failure leaves is found again by its account.
      return count;
    },
  };
}

/** Deletes at most `most` documents; how many it found. `most` is above 0: to MongoDB, 0 is no limit. */
async function some<Row>(
  of: Model<Row>,
  which: QueryFilter<Row>,
  most: number,
  { sort, session }: { sort?: { ts: 1; _id: 1 }; session?: ClientSession } = {},
): Promise<number> {
  const within = session && { session };
  const found = await of.find(which, { _id: 1 }, { ...within, sort }).limit(most);
  await of.deleteMany({ _id: { $in: found.map(({ _id }) => _id) } }, within);
  return found.length;
}
