import type { ClientSession } from 'mongoose';
import type { Models } from './schemas.js';

const KINDS = ['models', 'devices', 'claims', 'audit'] as const;
type Kind = (typeof KINDS)[number];

/** The `_id` of the counter of a kind in an account. */
export function counterOf(accountId: string, kind: Kind): string {
  return `${accountId} ${kind}`;
}

/** The `_id` of each counter of an account. */
export function countersOf(accountId: string): string[] {
  return KINDS.map((kind) => counterOf(accountId, kind));
}

/**
 * Counts one more object of a kind in an account; returns the count, from 1. Transactions that use the same counter run
 * one after the other.
 */
export async function nextOf(
  { counters }: Models,
  accountId: string,
  kind: Kind,
  session?: ClientSession,
): Promise<number> {
  for (;;) {
    const counted = await counters.findOneAndUpdate(
      { _id: counterOf(accountId, kind) },
      { $inc: { count: 1 } },
      { upsert: true, returnDocument: 'after', ...(session && { session }) },
    );
    if (counted) return counted.count; // If two create the counter at the same moment, one may get none.
  }
}
