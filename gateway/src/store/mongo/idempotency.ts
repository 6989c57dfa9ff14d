import { IDEMPOTENCY_KEPT, stateOf } from '../idempotency.js';
import type { IdempotencyClaim, IdempotencyState, IdempotencyStore } from '../store.js';
import { isAdded } from './connection.js';
import { nextOf } from './counters.js';
import { expiryOf } from './models/idempotency.js';
import type { Models } from './schemas.js';

/** The idempotency keys of a MongoDB store. A claim that was replaced by a later one saves and releases nothing. */
export function mongoIdempotency(models: Models): IdempotencyStore {
  const { idempotency } = models;
  return {
    claimIdempotencyKey: async (claim, keep = IDEMPOTENCY_KEPT) => {
      for (;;) {
        const state = (await found(models, claim)) ?? (await insert(models, claim, keep));
        if (state) return state;
      }
    },
    saveIdempotentResponse: async (claim, response) => {
      await idempotency.updateOne(identity(claim), { $set: { response } });
    },
    releaseIdempotencyKey: async (claim) => {
      await idempotency.deleteOne({ ...identity(claim), response: null });
    },
  };
}

/** Null if nobody has claimed the key, or if the claim that was found has since been released or replaced. */
async function found({ idempotency }: Models, claim: IdempotencyClaim): Promise<IdempotencyState | null> {
  const { accountId, route, key, bodyHash, at } = claim;
  const there = await idempotency.findOne({ accountId, route, key });
  if (!there) return null;
  const state = stateOf(there, claim);
  if (state.state !== 'fresh') return state;
  const update = { $set: { bodyHash, at, response: null, expireAt: expiryOf(at) } };
  const { matchedCount } = await idempotency.updateOne(
    identity({ ...claim, bodyHash: there.bodyHash, at: there.at }),
    update,
  );
  return matchedCount === 1 ? state : null;
}

/**
 * Null if somebody else has claimed the key meanwhile. The claim also deletes the account's oldest keys beyond the
 * limit.
 */
async function insert(models: Models, claim: IdempotencyClaim, keep: number): Promise<IdempotencyState | null> {
  const { idempotency } = models;
  const { accountId, at } = claim;
  const n = await nextOf(models, accountId, 'claims');
  const adding = idempotency.create({ ...identity(claim), response: null, expireAt: expiryOf(at), n });
  if (!(await isAdded(adding, 'accountId', 'route', 'key'))) return null;
  await idempotency.deleteMany({ accountId, n: { $lte: n - keep } });
  return { state: 'fresh' };
}

function identity({ accountId, route, key, bodyHash, at }: IdempotencyClaim): IdempotencyClaim {
  return { accountId, route, key, bodyHash, at };
}
