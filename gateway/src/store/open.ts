import type { Clock } from '@device-insights/fanout/platform/clock';
import type { Config } from '../config.js';
import { openEmbeddedStore, openExistingStore, startEmbeddedStore } from './embedded/embedded.js';
import type { Store } from './store.js';

type Place = Pick<Config, 'mongodbUri' | 'dataDir'>;

/**
 * Opens the configured store for a service, which makes what is missing of it: MongoDB if it has a URI, otherwise the
 * embedded one, for which no driver is loaded. Rejects if the store has another schema. Services that hear of each other over a
 * bus may share an embedded store; without one, a second service is refused.
 */
export async function startStore(
  { mongodbUri, dataDir, redisUrl }: Place & Pick<Config, 'redisUrl'>,
  clock: Clock,
): Promise<Store> {
  if (mongodbUri === null) return (redisUrl === null ? startEmbeddedStore : openEmbeddedStore)(dataDir, clock);
  const { startMongoStore } = await import('./mongo/mongo.js');
  return startMongoStore(mongodbUri, clock);
}

/** Opens the configured store for a command beside the service: makes nothing. Rejects if the store has another schema. */
export async function openStore({ mongodbUri, dataDir }: Place, clock: Clock): Promise<Store> {
  if (mongodbUri === null) return openExistingStore(dataDir, clock);
  const { openMongoStore } = await import('./mongo/mongo.js');
  return openMongoStore(mongodbUri, clock);
}
