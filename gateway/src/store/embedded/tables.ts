import { PAGES } from '../store.js';
import { embeddedAccounts, embeddedKeys } from './accounts.js';
import type { Database } from './database.js';
import { embeddedDeviceModels, embeddedDevices } from './devices.js';
import { embeddedErasure } from './erasure.js';
import { embeddedGateways } from './gateways.js';
import { embeddedIdempotency } from './idempotency.js';
import { embeddedInsights } from './insights.js';
import { type Calls, type Probes, type Tables, WRITES } from './kinds.js';
import { embeddedAudit, embeddedOperators } from './operators.js';
import { embeddedSessions } from './sessions.js';

/** The tables of a connection: each operation in a transaction if it writes, as a read otherwise. */
export function tablesOn(db: Database): Tables {
  const calls: Calls<Tables> = {
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
  const run = ([method, call]: [string, (...args: unknown[]) => unknown]) => {
    const kind = (WRITES as readonly string[]).includes(method) ? 'write' : 'read';
    return [method, PAGES.includes(method) ? call : (...args: unknown[]) => db[kind](() => call(...args))];
  };
  const entries = Object.entries(calls) as [string, (...args: unknown[]) => unknown][];
  return Object.fromEntries(entries.map(run)); // Each of the same parameters and result as its call.
}

function embeddedProbes(db: Database): Calls<Probes> {
  return {
    writeProbe: (at) => void db.run('INSERT OR REPLACE INTO probes (id, at) VALUES (1, ?)', at),
    readProbe: () => db.get<{ at: number }>('SELECT at FROM probes WHERE id = 1')?.at ?? null,
  };
}
