import type { Store } from './store.js';
import { accountSuite } from './suite/accounts.js';
import { deviceSuite } from './suite/devices.js';
import { erasureSuite } from './suite/erasure.js';
import { idempotencySuite } from './suite/idempotency.js';
import { insightSuite } from './suite/insights.js';
import { lifeSuite } from './suite/life.js';
import { operatorSuite } from './suite/operators.js';
import { ownershipSuite } from './suite/ownership.js';
import { sessionSuite } from './suite/sessions.js';

/**
 * The contract of `store.ts`, which every implementation runs, on two handles on the same data. `open` opens another
 * one. Tests share the data, so each creates its own accounts, devices, gateways and times.
 */
export async function storeSuite(name: string, open: () => Promise<Store>): Promise<void> {
  const handles = { store: await open(), other: await open() };
  describe(`store: ${name}`, () => {
    after(async () => {
      await handles.store.close();
      await handles.other.close();
    });

    accountSuite(handles);
    operatorSuite(handles);
    deviceSuite(handles);
    sessionSuite(handles);
    ownershipSuite(handles);
    insightSuite(handles);
    idempotencySuite(handles);
    erasureSuite(handles);
    lifeSuite(open);
  });
}
