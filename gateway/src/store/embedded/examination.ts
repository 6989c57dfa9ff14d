import { setPriority } from 'node:os';
import { connect } from './connection.js';
import { meaningOf } from './failures.js';

// A separate process, with the file of a database in argv[2]: reads the whole file, and prints its damage, if any. This
// may take minutes and much of the disk's capacity, so it runs at low priority and can be killed at any time.
setPriority(19);
const [file = ''] = process.argv.slice(2);
try {
  const db = connect(file, 1000);
  const [row] = db.prepare('PRAGMA quick_check(1)').all() as { quick_check: string }[];
  if (row?.quick_check !== 'ok') process.stdout.write(row?.quick_check ?? 'no answer');
} catch (error) {
  if (error instanceof Error && meaningOf(error) === 'damaged') process.stdout.write(error.message);
  else process.exitCode = 1;
}
