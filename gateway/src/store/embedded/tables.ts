import type { Store } from '../store.js';
import { embeddedAccounts, embeddedKeys } from './accounts.js';
import type { Database } from './database.js';
import { type DeviceModels, embeddedDeviceModels, embeddedDevices } from './devices.js';
import { embeddedErasure } from './erasure.js';
import { embeddedGateways } from './gateways.js';
import { embeddedIdempotency } from './idempotency.js';
import { embeddedInsights } from './insights.js';
import { embeddedAudit, embeddedOperators } from './operators.js';
import { embeddedSessions } from './sessions.js';

/** All operations of one connection on the tables: the store's calls except those that need several connections. */
export type Tables = Omit<Store, 'changeDeviceModel' | 'probe' | 'close'> & DeviceModels & Probes;

interface Probes {
  writeProbe(at: number): Promise<void>;
  /** Null if it was never written. */
  readProbe(): Promise<number | null>;
}

/** The tables of a connection. */
export function tablesOn(db: Database): Tables {
  return {
    ...embeddedAccounts(db),
    ...embeddedKeys(db),
    ...embeddedOperators(db),
    ...embeddedAudit(db),
    ...embeddedDeviceModels(db),
    ...embeddedDevices(db),
    ...embeddedSessions(db),
    ...embeddedGateways(db),
    ...embeddedInsights(db),
    ...embeddedIdempotency(db),
    ...embeddedErasure(db),
    ...embeddedProbes(db),
  };
}

function embeddedProbes(db: Database): Probes {
  const write = db.prepare('INSERT OR REPLACE INTO probes (id, at) VALUES (1, ?)');
  const read = db.prepare<{ at: number }>('SELECT at FROM probes WHERE id = 1');
  return {
    writeProbe: (at) => db.write(() => void write.run(at)),
    readProbe: () => db.read(() => read.get()?.at ?? null),
  };
}
