import { randomUUID } from 'node:crypto';
import { hashKey, newKey } from './keys.js';
import type { Account, Key, Store } from './store/store.js';

const DEFAULT_ACCOUNT = 'default';

/** Makes the row of a key; the key itself is for its holder alone. */
export function keyRow(key: string, accountId: string, user: string | null, now: number): Key {
  return {
    id: randomUUID(),
    accountId,
    user,
    hash: hashKey(key),
    prefix: key.slice(0, 8),
    lastFour: key.slice(-4),
    createdAt: now,
    lastUsedAt: null,
    revokedAt: null,
  };
}

/**
 * Sees to it that somebody can use the service: the account `default`, with the key that the configuration gives, or,
 * where it gives none and the store has no account yet, with a new one.
 * @returns the new key, to be shown once; null where none was made
 */
export async function bootstrap(
  store: Store,
  given: string | null,
  makeOne: boolean,
  now: number,
): Promise<string | null> {
  if (given !== null) {
    const account = await defaultAccount(store, now);
    if (!(await store.keyByHash(hashKey(given)))) await store.addKey(keyRow(given, account.id, null, now));
    return null;
  }
  if (!makeOne || (await store.accounts()).length > 0) return null;
  const key = newKey();
  await store.addKey(keyRow(key, (await defaultAccount(store, now)).id, null, now));
  return key;
}

async function defaultAccount(store: Store, now: number): Promise<Account> {
  const account = { id: randomUUID(), name: DEFAULT_ACCOUNT, algorithms: null, createdAt: now };
  const there = (await store.createAccount(account)) ?? (await store.accountNamed(DEFAULT_ACCOUNT));
  if (!there) throw new Error(`the account ${DEFAULT_ACCOUNT} can neither be made nor found`);
  return there;
}
