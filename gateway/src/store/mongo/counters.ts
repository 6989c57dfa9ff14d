import type { ClientSession } from 'mongoose';
import type { Models } from './schemas.js';

/**
 * Counts one more object of a kind in an account; returns the count, from 1. Transactions that use the same counter run
 * one after the other.
 */
export async function nextOf(
  { counters }: Models,
  accountId: string,
  kind: 'models' | 'claims' | 'audit',
  session?: ClientSession,
): Promise<number> {
  for (;;) {
    const counted = await counters
      .findOneAndUpdate(
        { _id: `${accountId} ${kind}` },
        { $inc: { count: 1 } },
        { upsert: true, returnDocument: 'after', ...(session && { session }) },
      )
      .lean<{ count: number }>();
    if (counted) return counted.count; // If two create the counter at the same moment, one may get none.
  }
}
