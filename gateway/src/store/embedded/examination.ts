import { closeSync, existsSync, openSync, readSync } from 'node:fs';
import { setPriority } from 'node:os';
import { messageOf } from '@device-insights/fanout/process/message-of';
import { connect } from './connection.js';
import { meaningOf } from './failures.js';

// A separate process, with the file of a database in argv[2] and the pragma that checks it in argv[3]: reads the whole
// file, and prints its damage, if any. Ends with 1 and the cause if it cannot tell. This may take minutes and much of
// the disk's capacity, so it runs at low priority and can be killed at any time.
setPriority(19);
const [file = '', check = 'quick_check'] = process.argv.slice(2);
try {
  if (damage() !== null) {
    // Or the disk failed. It is damage if the disk can read all of the file, and SQLite still finds it.
    for (const path of [file, `${file}-wal`]) if (existsSync(path)) readWhole(path);
    process.stdout.write(damage() ?? '');
  }
} catch (error) {
  process.stderr.write(messageOf(error));
  process.exitCode = 1;
}

function damage(): string | null {
  try {
    const [row] = connect(file, 1000, 'ro').prepare(`PRAGMA ${check}(1)`).raw().all() as string[][];
    const found = row?.[0] ?? 'no answer';
    return found === 'ok' ? null : found;
  } catch (error) {
    if (error instanceof Error && meaningOf(error) === 'damaged') return error.message;
    throw error;
  }
}

/** Throws if the disk cannot read a part. */
function readWhole(path: string): void {
  const descriptor = openSync(path, 'r');
  const part = Buffer.alloc(1 << 20);
  while (readSync(descriptor, part) > 0);
  closeSync(descriptor);
}
