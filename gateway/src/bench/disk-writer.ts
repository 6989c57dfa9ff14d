/** `node disk-writer.js FILE`: writes and syncs 1 MB ten times a second until SIGTERM, then prints the durations of its syncs. */
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { syncTimes } from './disk.js';

const BYTES = Buffer.alloc(1_000_000, 1);
const EVERY_MS = 100;
/** Writes until the file is written from its beginning again. */
const PLACES = 64;

const file = await open(process.argv[2] ?? '', 'w');
const taken: number[] = [];
let goesOn = true;
void once(process, 'SIGTERM').then(() => {
  goesOn = false;
});
for (let i = 0; goesOn; i++) {
  const start = performance.now();
  await file.write(BYTES, 0, BYTES.length, (i % PLACES) * BYTES.length);
  const written = performance.now();
  await file.datasync();
  taken.push(performance.now() - written);
  await setTimeout(Math.max(0, EVERY_MS - (performance.now() - start)));
}
process.stdout.write(JSON.stringify(syncTimes(taken)), () => process.exit(0));
