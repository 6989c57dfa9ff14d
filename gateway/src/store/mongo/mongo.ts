import type { Clock } from '@device-insights/fanout/platform/clock';
import { PAGES, type Store } from '../store.js';
import { mongoAccounts, mongoKeys } from './accounts.js';
import { MongoConnection } from './connection.js';
import { mongoDeviceModels, mongoDevices } from './devices.js';
import { mongoErasure } from './erasure.js';
import { mongoGateways } from './gateways.js';
import { mongoIdempotency } from './idempotency.js';
import { mongoInsights } from './insights.js';
import { mongoAudit, mongoOperators } from './operators.js';
import { assertSchema, type Models, makeSchema, modelsOn } from './schemas.js';
import { mongoSessions } from './sessions.js';

/**
 * Opens the store of a MongoDB replica set for a service, on its own connection; missing collections and indexes are
 * made. Rejects with `StoreUnavailable` if no server answers within the limit.
 */
export function startMongoStore(uri: string, clock: Clock): Promise<Store> {
  return opened(uri, clock, makeSchema);
}

/** The same for a command: makes nothing, and rejects if the store has another schema. */
export function openMongoStore(uri: string, clock: Clock): Promise<Store> {
  return opened(uri, clock, assertSchema);
}

async function opened(uri: string, clock: Clock, prepare: (models: Models) => Promise<void>): Promise<Store> {
  const mongo = await MongoConnection.open(uri, clock);
  try {
    const models = modelsOn(mongo.connection);
    await mongo.run(() => prepare(models));
    await mongo.guard(Object.values(models).map(({ collection }) => collection.name));
    return storeOn(mongo, models);
  } catch (error) {
    await mongo.close();
    throw error;
  }
}

function storeOn(mongo: MongoConnection, models: Models): Store {
  const calls: Omit<Store, 'close'> = {
    ...mongoAccounts(models),
    ...mongoKeys(mongo, models),
    ...mongoOperators(models),
    ...mongoAudit(models),
    ...mongoDeviceModels(mongo, models),
    ...mongoDevices(mongo, models),
    ...mongoSessions(mongo, models),
    ...mongoGateways(mongo, models),
    ...mongoInsights(mongo, models),
    ...mongoIdempotency(models),
    ...mongoErasure(mongo, models),
    probe: mongoProbe(mongo, models),
  };
  const run = ([method, call]: [string, (...args: unknown[]) => Promise<unknown>]) => {
    return [method, PAGES.includes(method) ? call : (...args: unknown[]) => mongo.run(() => call(...args))];
  };
  const entries = Object.entries(calls) as [string, (...args: unknown[]) => Promise<unknown>][];
  return { ...(Object.fromEntries(entries.map(run)) as typeof calls), close: () => mongo.close() };
}

function mongoProbe(mongo: MongoConnection, { probes }: Models): Store['probe'] {
  return async (at) => {
    await mongo.inspect();
    await probes.updateOne({ _id: 'probe' }, { $set: { at } }, { upsert: true });
    const found = await probes.findById('probe');
    if (!found) throw new Error('MongoDB lost a write');
  };
}
