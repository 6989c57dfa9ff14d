import { randomUUID } from 'node:crypto';
import { hashKey } from '@device-insights/fanout/api-key';
import { ConfigError } from '@device-insights/fanout/platform/config-error';
import type { Account, AccountStore, KeyStore } from '../store/store.js';
import { keyRow, newKey } from './key.js';

const DEFAULT_ACCOUNT = 'default';

/**
 * Makes sure that the account `default` has this key.
 * @returns false if it has the key, but the key was revoked or has expired
 * @throws ConfigError if the key is a user's, or of another account
 */
export async function provideKey(store: AccountStore & KeyStore, key: string, now: number): Promise<boolean> {
  const account = await defaultAccount(store, now);
  const there = await store.keyByHash(hashKey(key));
  if (!there) {
    await store.addKey(keyRow(key, { accountId: account.id, createdAt: now }));
    return true;
  }
  if (there.accountId !== account.id || there.user !== null || there.subscribeOnly)
    throw new ConfigError([
      'BOOTSTRAP_API_KEY must be a shared key of the account default, but this key has another account or user: choose another key',
    ]);
  return there.revokedAt === null && (there.expiresAt === null || there.expiresAt > now);
}

/**
 * Makes sure that a new store can be used: if no key exists, the account `default` gets one. (An account without a key
 * remains after a start that was interrupted between the two.)
 * @returns the new key, to be shown once; null if none was issued
 */
export async function firstKey(store: AccountStore & KeyStore, now: number): Promise<string | null> {
  const accounts = await store.accounts();
  if (accounts.some(({ name }) => name !== DEFAULT_ACCOUNT)) return null;
  const account = await defaultAccount(store, now);
  if ((await store.keys(account.id)).length > 0) return null;
  const key = newKey();
  await store.addKey(keyRow(key, { accountId: account.id, createdAt: now }));
  return key;
}

async function defaultAccount(store: AccountStore, now: number): Promise<Account> {
  const account = { id: randomUUID(), name: DEFAULT_ACCOUNT, algorithms: null, createdAt: now };
  const there = (await store.createAccount(account)) ?? (await store.accountNamed(DEFAULT_ACCOUNT));
  if (!there) throw new Error(`the account ${DEFAULT_ACCOUNT} can be neither created nor found`);
  return there;
}
