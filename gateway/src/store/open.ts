import type { Clock } from '@device-insights/fanout/process/clock';
import type { Config } from '../config.js';
import { openEmbeddedStore } from './embedded/embedded.js';
import { openMongoStore } from './mongo/mongo.js';
import type { Store } from './store.js';

/** Opens the configured store: MongoDB if it has a URI, otherwise the embedded one. */
export function openStore(
  { mongodbUri, dataDir }: Pick<Config, 'mongodbUri' | 'dataDir'>,
  clock: Clock,
): Promise<Store> {
  return mongodbUri === null ? openEmbeddedStore(dataDir, clock) : openMongoStore(mongodbUri, clock);
}
