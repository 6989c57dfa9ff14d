import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../clock.js';
import { type Store, StoreUnavailable } from '../store.js';
import { embeddedAccounts, embeddedKeys } from './accounts.js';
import { Database } from './database.js';
import { embeddedDeviceModels, embeddedDevices } from './devices.js';
import { embeddedGateways } from './gateways.js';
import { embeddedIdempotency } from './idempotency.js';
import { embeddedInsights } from './insights.js';
import { migrate, NewerSchema } from './schema.js';
import { embeddedSessions } from './sessions.js';

const FILE = 'device-insights.db';

/**
 * Opens the store that needs no server: an SQLite file in a directory, which is made where it is missing. Several
 * processes may have it open. Rejects with `NewerSchema` where a newer version of the service has written it.
 */
export async function openEmbeddedStore(directory: string, clock: Clock): Promise<Store> {
  await makeDirectory(directory);
  const db = new Database(join(directory, FILE), clock);
  try {
    await migrate(db);
    return storeOn(db);
  } catch (error) {
    await db.close();
    if (error instanceof NewerSchema || error instanceof StoreUnavailable) throw error;
    throw new Error(`${FILE} in ${directory} cannot be opened: restore it, or choose another data directory`, {
      cause: error,
    });
  }
}

async function makeDirectory(directory: string): Promise<void> {
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`${directory} cannot be the data directory (DATA_DIR): ${why}`, { cause });
  }
}

function storeOn(db: Database): Store {
  return {
    ...embeddedAccounts(db),
    ...embeddedKeys(db),
    ...embeddedDeviceModels(db),
    ...embeddedDevices(db),
    ...embeddedSessions(db),
    ...embeddedGateways(db),
    ...embeddedInsights(db),
    ...embeddedIdempotency(db),
    probe: embeddedProbe(db),
    close: () => db.close(),
  };
}

function embeddedProbe(db: Database): Store['probe'] {
  const write = db.prepare('INSERT OR REPLACE INTO probes (id, at) VALUES (1, ?)');
  const read = db.prepare<{ at: number }>('SELECT at FROM probes WHERE id = 1');
  return async (at) => {
    await db.write(() => write.run(at));
    const found = await db.read(() => read.get()?.at);
    if (found === undefined) throw new Error('the embedded store lost a write');
  };
}
