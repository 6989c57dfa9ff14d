import type { Clock } from '../../clock.js';
import type { Store } from '../store.js';
import { mongoAccounts, mongoKeys } from './accounts.js';
import { MongoConnection } from './connection.js';
import { mongoDeviceModels, mongoDevices } from './devices.js';
import { mongoGateways } from './gateways.js';
import { mongoIdempotency } from './idempotency.js';
import { mongoInsights } from './insights.js';
import { type Models, modelsOn, type ProbeDocument } from './schemas.js';
import { mongoSessions } from './sessions.js';

/**
 * Opens the store of a MongoDB replica set, on a connection of its own; collections and indexes are made where they are
 * missing. Rejects with `StoreUnavailable` where no server answers within 3 s.
 */
export async function openMongoStore(uri: string, clock: Clock): Promise<Store> {
  const mongo = await MongoConnection.open(uri, clock);
  try {
    return storeOn(mongo, await mongo.run(() => modelsOn(mongo.connection)));
  } catch (error) {
    await mongo.close();
    throw error;
  }
}

function storeOn(mongo: MongoConnection, models: Models): Store {
  return {
    ...mongoAccounts(mongo, models),
    ...mongoKeys(mongo, models),
    ...mongoDeviceModels(mongo, models),
    ...mongoDevices(mongo, models),
    ...mongoSessions(mongo, models),
    ...mongoGateways(mongo, models),
    ...mongoInsights(mongo, models),
    ...mongoIdempotency(mongo, models),
    probe: mongoProbe(mongo, models),
    close: () => mongo.close(),
  };
}

function mongoProbe(mongo: MongoConnection, { probes }: Models): Store['probe'] {
  return (at) =>
    mongo.run(async () => {
      await probes.updateOne({ _id: 'probe' }, { $set: { at } }, { upsert: true });
      const found = await probes.findById('probe').lean<ProbeDocument>();
      if (!found) throw new Error('MongoDB lost a write');
    });
}
