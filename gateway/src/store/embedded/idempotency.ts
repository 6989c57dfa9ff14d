import { IDEMPOTENCY_KEPT, IDEMPOTENCY_KEPT_MS, stateOf } from '../idempotency.js';
import type { IdempotencyClaim, IdempotencyStore, SavedResponse } from '../store.js';
import type { Database } from './database.js';
import type { Calls } from './kinds.js';
import { fromJson } from './rows.js';

/** Maximum number of expired keys that a claim deletes: more than it adds, and few enough to hold up no other write. */
const FORGOTTEN = 100;

/** The idempotency keys of an embedded store. A claim that was replaced by a later one saves and releases nothing. */
export function embeddedIdempotency(db: Database): Calls<IdempotencyStore> {
  const found = db.prepare<ClaimRow>('SELECT * FROM idempotency WHERE accountId = ? AND route = ? AND key = ?');
  const claim = db.prepare(
    'INSERT OR REPLACE INTO idempotency (accountId, route, key, bodyHash, at, n) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const newest = db.prepare<{ n: number | null }>('SELECT max(n) AS n FROM idempotency WHERE accountId = ?');
  const forgetOldest = db.prepare('DELETE FROM idempotency WHERE accountId = ? AND n <= ?');
  const forget = db.prepare(
    `DELETE FROM idempotency WHERE rowid IN (SELECT rowid FROM idempotency WHERE at <= ? LIMIT ${FORGOTTEN})`,
  );
  const save = db.prepare(`UPDATE idempotency SET response = ? WHERE ${SAME_CLAIM}`);
  const release = db.prepare(`DELETE FROM idempotency WHERE ${SAME_CLAIM} AND response IS NULL`);
  return {
    claimIdempotencyKey: (c, keep = IDEMPOTENCY_KEPT) => {
      forget.run(c.at - IDEMPOTENCY_KEPT_MS);
      const row = found.get(c.accountId, c.route, c.key);
      const response = fromJson<SavedResponse>(row?.response ?? null, `idempotency key ${c.key}`);
      const state = row ? stateOf({ ...row, response }, c) : ({ state: 'fresh' } as const);
      if (state.state !== 'fresh') return state;
      const n = (newest.get(c.accountId)?.n ?? 0) + 1;
      claim.run(...identity(c), n);
      forgetOldest.run(c.accountId, n - keep);
      return state;
    },
    saveIdempotentResponse: (c, response) => void save.run(JSON.stringify(response), ...identity(c)),
    releaseIdempotencyKey: (c) => void release.run(...identity(c)),
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
