import { Schema } from 'mongoose';
import { IDEMPOTENCY_KEPT_MS } from '../../idempotency.js';
import type { IdempotencyClaim, SavedResponse } from '../../store.js';
import { OPTIONS, PART } from './options.js';

export interface IdempotencyDocument extends IdempotencyClaim {
  response: SavedResponse | null;
  expireAt: Date;
  /** Its number within its account. */
  n: number;
}

/** Time at which MongoDB may remove an idempotency key claimed at `at` (ms). */
export function expiryOf(at: number): Date {
  return new Date(at + IDEMPOTENCY_KEPT_MS);
}

export const idempotency = new Schema<IdempotencyDocument>(
  {
    accountId: { type: String, required: true },
    route: { type: String, required: true },
    key: { type: String, required: true },
    bodyHash: { type: String, required: true },
    at: { type: Number, required: true },
    expireAt: Date,
    n: { type: Number, required: true },
    response: new Schema({ status: Number, body: String, bodyHash: String }, PART),
  },
  OPTIONS,
);
idempotency.index({ accountId: 1, route: 1, key: 1 }, { unique: true });
idempotency.index({ accountId: 1, n: 1 });
idempotency.index({ expireAt: 1 }, { expireAfterSeconds: 0 });
