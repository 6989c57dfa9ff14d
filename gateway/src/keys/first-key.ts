import { randomUUID } from 'node:crypto';
import { hashKey } from '@device-insights/fanout/api-key';
import type { Account, Store } from '../store/store.js';
import { keyRow, newKey } from './key.js';

const DEFAULT_ACCOUNT = 'default';

/** Makes sure that the account `default` has this key. */
export async function provideKey(store: Store, key: string, now: number): Promise<void> {
  const account = await defaultAccount(store, now);
  if (!(await store.keyByHash(hashKey(key)))) await store.addKey(keyRow(key, account.id, null, now));
}

/**
 * Makes sure that a new store can be used: if no key exists, the account `default` gets one. (An account without a key
 * remains after a start that was interrupted between the two.)
 * @returns the new key, to be shown once; null if none was issued
 */
export async function firstKey(store: Store, now: number): Promise<string | null> {
  const accounts = await store.accounts();
  if (accounts.some(({ name }) => name !== DEFAULT_ACCOUNT)) return null;
  const account = await defaultAccount(store, now);
  if ((await store.keys(account.id)).length > 0) return null;
  const key = newKey();
  await store.addKey(keyRow(key, account.id, null, now));
  return key;
}

async function defaultAccount(store: Store, now: number): Promise<Account> {
  const account = { id: randomUUID(), name: DEFAULT_ACCOUNT, algorithms: null, createdAt: now };
  const there = (await store.createAccount(account)) ?? (await store.accountNamed(DEFAULT_ACCOUNT));
  if (!there) throw new Error(`the account ${DEFAULT_ACCOUNT} can be neither created nor found`);
  return there;
}
