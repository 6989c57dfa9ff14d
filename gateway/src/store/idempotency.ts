import type { IdempotencyClaim, IdempotencyState, SavedResponse } from './store.js';

/** A request that has run for longer than this without an answer is taken for dead. */
const PENDING_MS = 60_000;
/** How long a key is remembered. */
export const IDEMPOTENCY_KEPT_MS = 86_400_000;

/** What a store keeps of a claimed idempotency key. */
export interface ClaimedKey {
  readonly bodyHash: string;
  readonly at: number;
  readonly response: SavedResponse | null;
}

/** What a new claim finds where the key was claimed before; `fresh` means that the new claim replaces the old one. */
export function stateOf(claimed: ClaimedKey, claim: IdempotencyClaim): IdempotencyState {
  const age = claim.at - claimed.at;
  if (age >= IDEMPOTENCY_KEPT_MS) return { state: 'fresh' };
  if (claimed.bodyHash !== claim.bodyHash) return { state: 'conflict' };
  if (claimed.response) return { state: 'done', response: claimed.response };
  return { state: age < PENDING_MS ? 'pending' : 'fresh' };
}
