import type { Store } from './store.js';
import { accountSuite } from './suite/accounts.js';
import { deviceSuite } from './suite/devices.js';
import { erasureSuite } from './suite/erasure.js';
import { idempotencySuite } from './suite/idempotency.js';
import { insightSuite } from './suite/insights.js';
import { lifeSuite } from './suite/life.js';
import { operatorSuite } from './suite/operators.js';
import { ownershipSuite } from './suite/ownership.js';
import type { Handles } from './suite/samples.js';
import { sessionSuite } from './suite/sessions.js';

/**
 * The contract of `store.ts`, which every implementation runs. `open` opens another handle on the same data. Tests
 * share the data, so each creates its own accounts, devices, gateways and times.
 */
export function storeSuite(name: string, open: () => Promise<Store>): void {
  describe(`store: ${name}`, () => {
    let handles: Handles;

    before(async () => {
      handles = { store: await open(), other: await open() };
    });

    after(async () => {
      await handles.store.close();
      await handles.other.close();
    });

    accountSuite(() => handles);
    operatorSuite(() => handles);
    deviceSuite(() => handles);
    sessionSuite(() => handles);
    ownershipSuite(() => handles);
    insightSuite(() => handles);
    idempotencySuite(() => handles);
    erasureSuite(() => handles);
    lifeSuite(open);
  });
}
