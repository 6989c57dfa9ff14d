import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { ServerProcess } from '../server-process.js';

/** The resources of a server at one time; sizes in bytes. */
export interface ProcessSample {
  readonly rss: number;
  readonly heap: number;
  /** Open file descriptors. */
  readonly descriptors: number;
  /** Handles of the event loop: sockets, timers, workers. */
  readonly handles: number;
}

/** Inspects a server from outside (Linux) and through its metrics. */
export async function sampleOf(server: ServerProcess): Promise<ProcessSample> {
  const resident = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1];
  return {
    rss: Number(resident) * 1024,
    heap: await server.metric('device_insights_nodejs_heap_size_used_bytes'),
    descriptors: readdirSync(`/proc/${server.pid}/fd`).length,
    handles: await server.metric('device_insights_nodejs_active_handles'),
  };
}

/** Bytes of the files of an embedded store. */
export function storeSize(folder: string): { store: number; wal: number } {
  const bytes = (ends: (name: string) => boolean) =>
    readdirSync(folder)
      .filter(ends)
      .reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  return { store: bytes((name) => name.endsWith('.db')), wal: bytes((name) => name.endsWith('-wal')) };
}
