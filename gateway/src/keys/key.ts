import { randomInt, randomUUID } from 'node:crypto';
import { hashKey } from '@device-insights/fanout/api-key';
import type { Key } from '../store/store.js';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SECRET_LENGTH = 32;

/** Generates a new API key: `svc_` and 190 random bits in base62. */
export function newKey(): string {
  return `svc_${Array.from({ length: SECRET_LENGTH }, () => BASE62[randomInt(62)]).join('')}`;
}

/** Fields of a new key: a shared key that does not expire, unless they say otherwise. */
type NewKey = Pick<Key, 'accountId' | 'createdAt'> & Partial<Pick<Key, 'user' | 'expiresAt' | 'subscribeOnly'>>;

/** Builds the row of a key, which contains only its hash; the key itself is only for its holder. */
export function keyRow(key: string, fields: NewKey): Key {
  return {
    id: randomUUID(),
    user: null,
    hash: hashKey(key),
    prefix: key.slice(0, 8),
    lastFour: key.slice(-4),
    lastUsedAt: null,
    revokedAt: null,
    expiresAt: null,
    subscribeOnly: false,
    replacedBy: null,
    ...fields,
  };
}
