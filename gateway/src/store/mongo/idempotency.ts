import { stateOf } from '../idempotency.js';
import type { IdempotencyClaim, IdempotencyState, Store } from '../store.js';
import { isDuplicate, type MongoConnection } from './connection.js';
import { expiryOf, type IdempotencyDocument, type Models } from './schemas.js';

type Idempotency = Pick<Store, 'claimIdempotencyKey' | 'saveIdempotentResponse' | 'releaseIdempotencyKey'>;

/** The idempotency keys of a MongoDB store. A claim that was replaced by a later one saves and releases nothing. */
export function mongoIdempotency(mongo: MongoConnection, models: Models): Idempotency {
  const { idempotency } = models;
  return {
    claimIdempotencyKey: (claim) =>
      mongo.run(async () => {
        for (;;) {
          const state = (await insert(models, claim)) ?? (await replace(models, claim));
          if (state) return state;
        }
      }),
    saveIdempotentResponse: (claim, response) =>
      mongo.run(async () => {
        await idempotency.updateOne(identity(claim), { $set: { response } });
      }),
    releaseIdempotencyKey: (claim) =>
      mongo.run(async () => {
        await idempotency.deleteOne({ ...identity(claim), response: null });
      }),
  };
}

/** Null where the key is claimed already. */
async function insert({ idempotency }: Models, claim: IdempotencyClaim): Promise<IdempotencyState | null> {
  try {
    await idempotency.create({ ...identity(claim), response: null, expireAt: expiryOf(claim.at) });
    return { state: 'fresh' };
  } catch (error) {
    if (isDuplicate(error)) return null;
    throw error;
  }
}

/** Null where the claim that was found has gone, or was replaced, in between. */
async function replace({ idempotency }: Models, claim: IdempotencyClaim): Promise<IdempotencyState | null> {
  const { accountId, route, key, bodyHash, at } = claim;
  const found = await idempotency.findOne({ accountId, route, key }).lean<IdempotencyDocument>();
  if (!found) return null;
  const state = stateOf(found, claim);
  if (state.state !== 'fresh') return state;
  const update = { $set: { bodyHash, at, response: null, expireAt: expiryOf(at) } };
  const { matchedCount } = await idempotency.updateOne(
    identity({ ...claim, bodyHash: found.bodyHash, at: found.at }),
    update,
  );
  return matchedCount === 1 ? state : null;
}

function identity({ accountId, route, key, bodyHash, at }: IdempotencyClaim): IdempotencyClaim {
  return { accountId, route, key, bodyHash, at };
}
