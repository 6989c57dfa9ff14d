import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { quantile, startBeside, stop } from '@device-insights/fanout/bench';

/** Durations of a disk's syncs, ms. */
export interface SyncTimes {
  readonly p50: number;
  readonly p99: number;
}

const PAGE = Buffer.alloc(4096, 1);
const WRITER = fileURLToPath(new URL('disk-writer.js', import.meta.url));

/** Syncs a page 200 times, as commits would, on an otherwise idle disk. */
export function probeDisk(folder: string): SyncTimes {
  const file = openSync(join(folder, 'probe'), 'w');
  const taken: number[] = [];
  for (let i = 0; i < 200; i++) {
    const start = performance.now();
    writeSync(file, PAGE, 0, PAGE.length, i * PAGE.length);
    fdatasyncSync(file);
    taken.push(performance.now() - start);
  }
  closeSync(file);
  return syncTimes(taken);
}

export function syncTimes(taken: readonly number[]): SyncTimes {
  return { p50: quantile(taken, 0.5), p99: quantile(taken, 0.99) };
}

/** A process that writes and syncs to the same disk (`disk-writer.ts`), until `end`, which returns the durations of its own syncs. */
export function disturbDisk(folder: string): { end(): Promise<SyncTimes> } {
  const child = startBeside(process.execPath, [WRITER, join(folder, 'written')]);
  let said = '';
  child.stdout?.on('data', (chunk) => {
    said += chunk;
  });
  return {
    async end() {
      await stop(child);
      return JSON.parse(said) as SyncTimes;
    },
  };
}
