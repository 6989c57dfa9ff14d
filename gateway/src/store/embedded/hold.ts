import { writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type Libsql from 'libsql';
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
  const lock = () => {
    try {
      db.exec('BEGIN IMMEDIATE'); // Others can read, and cannot begin a write.
    } catch (error) {
      if (meaningOf(error) !== 'busy') throw error;
      const held = new Held(directory, holderIn(db));
      db.close();
      throw held;
    }
  };
  lock();
  try {
    db.exec('CREATE TABLE IF NOT EXISTS holder (pid INTEGER, host TEXT, since TEXT); DELETE FROM holder');
    db.prepare('INSERT INTO holder VALUES (?, ?, ?)').run([process.pid, hostname(), new Date().toISOString()]);
    db.exec('COMMIT');
  } catch {
    if (db.inTransaction) db.exec('ROLLBACK'); // The disk is full: it is held without a name.
  }
  lock();
  return () => {
    db.exec('ROLLBACK'); // A connection that was used may stay open for a while after it was closed.
    db.close();
  };
}

function holderIn(db: Libsql.Database): Holder | undefined {
  try {
    return db.prepare('SELECT * FROM holder').get() as Holder | undefined;
  } catch {
    return undefined; // It could not write its name.
  }
}

/** Another process holds a data directory. */
export class Held extends Error {
  override readonly name = 'Held';

  constructor(directory: string, holder?: Holder) {
    const who = holder ? `process ${holder.pid} on ${holder.host}, since ${holder.since}` : 'another process';
    super(`a service runs on ${directory} already (${who}): stop it, or set DATA_DIR to another directory`);
  }
}
