import type { ClientSession, Model, QueryFilter } from 'mongoose';
import type { ErasedInsights, ErasureStore } from '../store.js';
import type { MongoConnection } from './connection.js';
import { counterOf, countersOf } from './counters.js';
import { rowOf } from './rows.js';
import type { Models } from './schemas.js';

/** Deletes for good what a MongoDB store holds. */
export function mongoErasure(mongo: MongoConnection, models: Models): ErasureStore {
  const { accounts, beats, counters, deviceModels, devices, diagnostics, idempotency, insights, keys, sessions } =
    models;
  return {
    eraseInsights: async (which, most) => {
      const found = await insights
        .find(filterOf(which), { _id: 1 })
        .sort('sessionId' in which ? {} : { ts: 1, _id: 1 })
        .limit(most);
      await insights.deleteMany({ _id: { $in: found.map(({ _id }) => _id) } });
      return found.length;
    },
    eraseBeats: async (which, most) => {
      const found = await beats
        .find(filterOf(which), { _id: 1 })
        .sort('sessionId' in which ? {} : { ts: 1, _id: 1 })
        .limit(most);
      await beats.deleteMany({ _id: { $in: found.map(({ _id }) => _id) } });
      return found.length;
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
    eraseHoldings: async (accountId, most) => {
      if (await sessions.exists({ accountId })) return 0;
      let count = await mongo.transaction(async (session) => {
        const ofDevices = await some(devices, { accountId }, most, session);
        const _id = counterOf(accountId, 'devices');
        await counters.updateOne({ _id }, { $inc: { count: -ofDevices } }, { session });
        return ofDevices;
      });
      if (count < most) count += await some(deviceModels, { accountId }, most - count);
      if (count < most) count += await some(idempotency, { accountId }, most - count);
      return count;
    },
    eraseAccount: async (id) => {
      const found = await accounts.findById(id);
      if (!found || (await sessions.exists({ accountId: id }))) return null;
      await devices.deleteMany({ accountId: id });
      await deviceModels.deleteMany({ accountId: id });
      await idempotency.deleteMany({ accountId: id });
      await keys.deleteMany({ accountId: id });
      await counters.deleteMany({ _id: { $in: countersOf(id) } });
      await accounts.deleteOne({ _id: id }); // Last: what a failure leaves is found again by its account.
      return rowOf(found);
    },
  };
}

function filterOf(which: ErasedInsights) {
  if ('sessionId' in which) return { session_id: which.sessionId };
  return { accountId: which.accountId, ts: { $lt: which.before } };
}

/** Deletes at most `most` documents; how many it found. `most` is above 0: to MongoDB, 0 is no limit. */
async function some<Row>(
  of: Model<Row>,
  which: QueryFilter<Row>,
  most: number,
  session?: ClientSession,
): Promise<number> {
  const within = session && { session };
  const found = await of.find(which, { _id: 1 }, within).limit(most);
  await of.deleteMany({ _id: { $in: found.map(({ _id }) => _id) } }, within);
  return found.length;
}
