import type { Store } from '../store.js';
import type { MongoConnection } from './connection.js';
import type { GatewayDocument, Models, SessionDocument } from './schemas.js';
import { sessionOf } from './sessions.js';

type Gateways = Pick<Store, 'beat' | 'gatewaysSince' | 'sessionsTakenFrom' | 'orphanedSessions'>;

/** A gateway that has been silent for this long is forgotten. */
const SILENT_MS = 86_400_000;

/** Which gateways live, and what became of the sessions of those that do not. */
export function mongoGateways(mongo: MongoConnection, { gateways, sessions }: Models): Gateways {
  const living = async (since: number): Promise<string[]> => {
    const found = await gateways
      .find({ beat: { $gte: since } })
      .sort({ _id: 1 })
      .lean<GatewayDocument[]>();
    return found.map(({ _id }) => _id);
  };
  return {
    beat: (gateway, at) =>
      mongo.run(async () => {
        await gateways.updateOne({ _id: gateway }, { $max: { beat: at } }, { upsert: true });
        await gateways.deleteMany({ beat: { $lt: at - SILENT_MS } });
      }),
    gatewaysSince: (at) => mongo.run(() => living(at)),
    sessionsTakenFrom: (gateway, since) =>
      mongo.run(async () => {
        const taken = { takeovers: { $elemMatch: { gateway, at: { $gte: since } } } };
        const found = await sessions.find(taken).lean<SessionDocument[]>();
        return found.flatMap(({ _id: id, takeovers }) =>
          takeovers.filter((t) => t.gateway === gateway && t.at >= since).map(({ epoch }) => ({ id, epoch })),
        );
      }),
    orphanedSessions: (beatBefore) =>
      mongo.run(async () => {
        const silent = { status: 'open', gateway: { $nin: await living(beatBefore) } } as const;
        const found = await sessions.find(silent).sort({ startedAt: 1 }).lean<SessionDocument[]>();
        if (found.length === 0) return [];
        // A gateway may have come between the two reads; it beats before it opens its first session.
        const now = new Set(await living(beatBefore));
        return found.filter(({ gateway }) => !now.has(gateway)).map(sessionOf);
      }),
  };
}
