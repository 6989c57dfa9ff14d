import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, systemClock } from '@device-insights/fanout/platform/clock';
import type { Store } from '../store.js';
import { Database } from './database.js';
import { openEmbeddedStore } from './embedded.js';
import type { Connection, ThreadData } from './store-thread.js';
import { tablesOn } from './tables.js';

/** Opens an embedded store in a new folder, which is removed when the store is closed. */
export async function openTemporaryStore(clock: Clock = systemClock): Promise<Store> {
  const folder = await mkdtemp(join(tmpdir(), 'device-insights-'));
  const store = await openUnthreadedStore(folder, clock);
  return {
    ...store,
    async close() {
      await store.close();
      await rm(folder, { recursive: true, maxRetries: 10 });
    },
  };
}

/** Opens an embedded store with its connections in this thread: starting its two threads takes longer than most tests. */
export function openUnthreadedStore(folder: string, clock: Clock): Promise<Store> {
  return openEmbeddedStore(folder, clock, inThisThread);
}

function inThisThread({ file, writes }: ThreadData): Connection {
  const db = writes ? Database.toWrite(file, systemClock) : Database.toRead(file, systemClock);
  const tables: Record<string, (...args: readonly unknown[]) => unknown> = Object.fromEntries(
    Object.entries(tablesOn(db)),
  );
  return {
    call: async (method, args) => tables[method]?.(...args),
    pages: (method, args) => tables[method]?.(...args) as AsyncGenerator<unknown>,
    close: async () => db.close(),
  };
}
