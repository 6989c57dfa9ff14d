import type { Store } from './store.js';
import { accountSuite } from './suite/accounts.js';
import { deviceSuite } from './suite/devices.js';
import { idempotencySuite } from './suite/idempotency.js';
import { insightSuite } from './suite/insights.js';
import { lifeSuite } from './suite/life.js';
import { ownershipSuite } from './suite/ownership.js';
import { sessionSuite } from './suite/sessions.js';

/** Two handles on the same data, as two processes would have them. */
export interface Handles {
  readonly store: Store;
  readonly other: Store;
}

/**
 * The contract of `store.ts`; every implementation runs it. `open` opens one more handle on one and the same data. Tests
 * share the data, so each makes accounts, devices, gateways and times of its own.
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
    deviceSuite(() => handles);
    sessionSuite(() => handles);
    ownershipSuite(() => handles);
    insightSuite(() => handles);
    idempotencySuite(() => handles);
    lifeSuite(open);
  });
}
