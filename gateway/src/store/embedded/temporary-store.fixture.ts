import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, systemClock } from '@device-insights/fanout/platform/clock';
import type { Store } from '../store.js';
import { openEmbeddedStore } from './embedded.js';

/** Opens an embedded store in a new folder, which is removed when the store is closed. */
export async function openTemporaryStore(clock: Clock = systemClock): Promise<Store> {
  const folder = await mkdtemp(join(tmpdir(), 'device-insights-'));
  const store = await openEmbeddedStore(folder, clock);
  return {
    ...store,
    async close() {
      await store.close();
      await rm(folder, { recursive: true, maxRetries: 10 });
    },
  };
}
