import { writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { connect } from './connection.js';
import { meaningOf } from './failures.js';

/** Wait for another process that is taking the lock at the same moment, ms. */
const LOCK_MS = 1000;

interface Holder {
  readonly pid: number;
  readonly host: string;
  readonly since: string;
}

/**
 * Holds a data directory for this process, by a lock of SQLite on a file of its own: the system ends it with the
 * process, however that ends, and others can read meanwhile which process holds it. Throws, with that process, if another
 * one does. The result lets it go.
 */
export function hold(directory: string): () => void {
  const file = join(directory, 'device-insights.lock');
  writeFileSync(file, '', { flag: 'a', mode: 0o600 });
  const db = connect(file, LOCK_MS);
  try {
    db.exec(
      'BEGIN IMMEDIATE; CREATE TABLE IF NOT EXISTS holder (pid INTEGER, host TEXT, since TEXT); DELETE FROM holder',
    );
    db.prepare('INSERT INTO holder VALUES (?, ?, ?)').run([process.pid, hostname(), new Date().toISOString()]);
    db.exec('COMMIT; BEGIN IMMEDIATE'); // Readers see who has it; no other process can begin a write.
  } catch (error) {
    if (meaningOf(error) !== 'busy') throw error;
    const holder = db.prepare('SELECT * FROM holder').get() as Holder | undefined;
    db.close();
    throw new Held(directory, holder);
  }
  return () => {
    db.exec('ROLLBACK'); // A connection that was used may stay open for a while after it was closed.
    db.close();
  };
}

/** Another process holds a data directory. */
export class Held extends Error {
  override readonly name = 'Held';

  constructor(directory: string, holder?: Holder) {
    const who = holder ? `process ${holder.pid} on ${holder.host}, since ${holder.since}` : 'another process';
    super(`a service runs on ${directory} already (${who}): stop it, or set DATA_DIR to another directory`);
  }
}
