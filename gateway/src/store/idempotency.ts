/** The claims of idempotency keys. */
export interface IdempotencyStore {
  /**
   * Claims (account, route, key) for a request with this body hash. The answer is `fresh` for the first request, the
   * first one's `response` once it exists, `conflict` for another body, and `pending` while the first request runs (for
   * at most a minute). Rows are kept for 24 h, and for each account only the `keep` (default 10,000) newest claims.
   */
  claimIdempotencyKey(claim: IdempotencyClaim, keep?: number): Promise<IdempotencyState>;
  saveIdempotentResponse(claim: IdempotencyClaim, response: SavedResponse): Promise<void>;
  /** Releases the claim of a request that failed without effect. */
  releaseIdempotencyKey(claim: IdempotencyClaim): Promise<void>;
}

export interface IdempotencyClaim {
  readonly accountId: string;
  readonly route: string;
  readonly key: string;
  readonly bodyHash: string;
  readonly at: number;
}

export interface SavedResponse {
  readonly status: number;
  readonly body: string;
  /** The hash of a request's body that was read after the claim, as of an upload. */
  readonly bodyHash?: string;
}

export type IdempotencyState =
  | { readonly state: 'fresh' }
  | { readonly state: 'pending' }
  | { readonly state: 'conflict' }
  | { readonly state: 'done'; readonly response: SavedResponse };

/** A request that has run for longer than this without an answer counts as dead, ms. No request but an upload takes this long. */
export const IDEMPOTENCY_PENDING_MS = 45_000;
/** Time for which a key is remembered. */
export const IDEMPOTENCY_KEPT_MS = 86_400_000;

/** Number of an account's newest keys that are kept. */
export const IDEMPOTENCY_KEPT = 10_000;

/** The stored data of a claimed idempotency key. */
export interface ClaimedKey extends Pick<IdempotencyClaim, 'bodyHash' | 'at'> {
  readonly response: SavedResponse | null;
}

/**
 * The answer to a new claim of a key that was claimed before; `fresh` means that the new claim replaces the old one.
 */
export function stateOf(claimed: ClaimedKey, claim: IdempotencyClaim): IdempotencyState {
  const age = claim.at - claimed.at;
  if (age >= IDEMPOTENCY_KEPT_MS) return { state: 'fresh' };
  if (claimed.bodyHash !== claim.bodyHash) return { state: 'conflict' };
  if (claimed.response) return { state: 'done', response: claimed.response };
  return { state: age < IDEMPOTENCY_PENDING_MS ? 'pending' : 'fresh' };
}
