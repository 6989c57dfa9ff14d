import type { GatewayStore } from '../store.js';
import type { MongoConnection } from './connection.js';
import type { Models } from './schemas.js';
import { sessionOf } from './sessions.js';

/** The heartbeats of gateways, and the sessions of gateways that are no longer alive. */
export function mongoGateways(mongo: MongoConnection, { gateways, sessions }: Models): GatewayStore {
  return {
    beat: async (gateway, at) => {
      await gateways.updateOne(
        { _id: gateway },
        { $set: { beat: at, commitSession: mongo.commitSession } },
        { upsert: true },
      );
    },
    beats: async () => {
      const found = await gateways.find();
      return new Map(found.map(({ _id, beat }) => [_id, beat]));
    },
    serverTime: async () => {
      const hello = await mongo.connection.db?.admin().command({ hello: 1 });
      return hello?.localTime instanceof Date ? hello.localTime.getTime() : null;
    },
    forgetGateways: async (before) => {
      await gateways.deleteMany({ beat: { $lt: before } });
    },
    takenSessions: async (gateway) => {
      const found = await sessions.find({ 'takeovers.gateway': gateway });
      const taken = found.flatMap(({ _id: id, takeovers }) =>
        takeovers.filter((takeover) => takeover.gateway === gateway).map(({ epoch }) => ({ id, epoch })),
      );
      const told = taken.map(({ id, epoch }) => ({
        updateOne: { filter: { _id: id }, update: { $pull: { takeovers: { gateway, epoch } } } },
      }));
      if (told.length > 0) await sessions.bulkWrite(told);
      return taken;
    },
    openSessionsOfOthers: async (owners) => {
      const others = { status: 'open', gateway: { $nin: [...owners] } } as const;
      return (await sessions.find(others).sort({ startedAt: 1 })).map(sessionOf);
    },
  };
}
