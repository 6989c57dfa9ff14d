import { IDEMPOTENCY_KEPT, IDEMPOTENCY_KEPT_MS, stateOf } from '../idempotency.js';
import type { IdempotencyClaim, IdempotencyStore, SavedResponse } from '../store.js';
import type { Database } from './database.js';
import type { Calls } from './kinds.js';
import { fromJson } from './rows.js';

/** Maximum number of expired keys that a claim deletes: more than it adds, and few enough to hold up no other write. */
const FORGOTTEN = 100;

/** The idempotency keys of an embedded store. A claim that was replaced by a later one saves and releases nothing. */
export function embeddedIdempotency(db: Database): Calls<IdempotencyStore> {
  return {
    claimIdempotencyKey: (c, keep = IDEMPOTENCY_KEPT) => {
      const expired = `SELECT rowid FROM idempotency WHERE at <= ? LIMIT ${FORGOTTEN}`;
      db.run(`DELETE FROM idempotency WHERE rowid IN (${expired})`, c.at - IDEMPOTENCY_KEPT_MS);
      const same = 'SELECT * FROM idempotency WHERE accountId = ? AND route = ? AND key = ?';
      const row = db.get<ClaimRow>(same, c.accountId, c.route, c.key);
      const response = fromJson<SavedResponse>(row?.response ?? null, `idempotency key ${c.key}`);
      const state = row ? stateOf({ ...row, response }, c) : ({ state: 'fresh' } as const);
      if (state.state !== 'fresh') return state;
      const newest = 'SELECT max(n) AS n FROM idempotency WHERE accountId = ?';
      const n = (db.get<{ n: number | null }>(newest, c.accountId)?.n ?? 0) + 1;
      const claim =
        'INSERT OR REPLACE INTO idempotency (accountId, route, key, bodyHash, at, n) VALUES (?, ?, ?, ?, ?, ?)';
      db.run(claim, ...identity(c), n);
      db.run('DELETE FROM idempotency WHERE accountId = ? AND n <= ?', c.accountId, n - keep);
      return state;
    },
    saveIdempotentResponse: (c, response) =>
      void db.run(`UPDATE idempotency SET response = ? WHERE ${SAME_CLAIM}`, JSON.stringify(response), ...identity(c)),
    releaseIdempotencyKey: (c) =>
      void db.run(`DELETE FROM idempotency WHERE ${SAME_CLAIM} AND response IS NULL`, ...identity(c)),
  };
}

const SAME_CLAIM = 'accountId = ? AND route = ? AND key = ? AND bodyHash = ? AND at = ?';

function identity(c: IdempotencyClaim): [string, string, string, string, number] {
  return [c.accountId, c.route, c.key, c.bodyHash, c.at];
}

interface ClaimRow {
  readonly bodyHash: string;
  readonly at: number;
  readonly response: string | null;
}
