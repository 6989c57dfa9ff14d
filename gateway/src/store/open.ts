import type { Clock } from '@device-insights/fanout/process/clock';
import type { Config } from '../config.js';
import { openEmbeddedStore } from './embedded/embedded.js';
import type { Store } from './store.js';

/** Opens the configured store: MongoDB if it has a URI, otherwise the embedded one, for which no driver is loaded. */
export async function openStore(
  { mongodbUri, dataDir }: Pick<Config, 'mongodbUri' | 'dataDir'>,
  clock: Clock,
): Promise<Store> {
  if (mongodbUri === null) return openEmbeddedStore(dataDir, clock);
  const { openMongoStore } = await import('./mongo/mongo.js');
  return openMongoStore(mongodbUri, clock);
}
