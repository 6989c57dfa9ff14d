import type { GatewayStore } from '../store.js';
import type { MongoConnection } from './connection.js';
import type { Models } from './schemas.js';
import { sessionOf } from './sessions.js';

/** The heartbeats of gateways, and the sessions of gateways that are no longer alive. */
export function mongoGateways(mongo: MongoConnection, { gateways, sessions }: Models): GatewayStore {
  return {
    beat: (gateway, at) =>
      mongo.run(async () => {
        await gateways.updateOne(
          { _id: gateway },
          { $set: { beat: at, commitSession: mongo.commitSession } },
          { upsert: true },
        );
      }),
    beats: () =>
      mongo.run(async () => {
        const found = await gateways.find();
        return new Map(found.map(({ _id, beat }) => [_id, beat]));
      }),
    serverTime: () =>
      mongo.run(async () => {
        const hello = await mongo.connection.db?.admin().command({ hello: 1 });
        return hello?.localTime instanceof Date ? hello.localTime.getTime() : null;
      }),
    forgetGateways: (before) =>
      mongo.run(async () => {
        await gateways.deleteMany({ beat: { $lt: before } });
      }),
    takenSessions: (gateway) =>
      mongo.run(async () => {
        const found = await sessions.find({ 'takeovers.gateway': gateway });
        const taken = found.flatMap(({ _id: id, takeovers }) =>
          takeovers.filter((takeover) => takeover.gateway === gateway).map(({ epoch }) => ({ id, epoch })),
        );
        const told = taken.map(({ id, epoch }) => ({
          updateOne: { filter: { _id: id }, update: { $pull: { takeovers: { gateway, epoch } } } },
        }));
        if (told.length > 0) await sessions.bulkWrite(told);
        return taken;
      }),
    openSessionsOfOthers: (owners) =>
      mongo.run(async () => {
        const others = { status: 'open', gateway: { $nin: [...owners] } } as const;
        return (await sessions.find(others).sort({ startedAt: 1 })).map(sessionOf);
      }),
  };
}
