import { randomInt, randomUUID } from 'node:crypto';
import { hashKey, prefixOf } from '@device-insights/fanout/api-key';
import { PERMISSIONS, type Permission } from '@device-insights/fanout/key-check';
import type { Key } from '../store/store.js';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SECRET_LENGTH = 32;

/** Generates a new API key: `svc_` and 190 random bits in base62. */
export function newKey(): string {
  return `svc_${Array.from({ length: SECRET_LENGTH }, () => BASE62[randomInt(62)]).join('')}`;
}

/** Fields of a new key: one of the whole account that does not expire, unless they say otherwise. */
type NewKey = Pick<Key, 'accountId' | 'createdAt'> &
  Partial<Pick<Key, 'user' | 'expiresAt' | 'subscribeOnly' | 'permissions' | 'label'>>;

/** What a key may do unless its issuer says otherwise: a user's key never manages what belongs to the account. */
export function usualPermissions(user: string | null): readonly Permission[] {
  return user === null ? PERMISSIONS : ['read', 'stream'];
}

/** Builds the row of a key, which contains only its hash; the key itself is only for its holder. */
export function keyRow(key: string, fields: NewKey): Key {
  return {
    id: randomUUID(),
    user: null,
    hash: hashKey(key),
    prefix: prefixOf(key),
    lastFour: key.slice(-4),
    lastUsedAt: null,
    revokedAt: null,
    expiresAt: null,
    permissions: usualPermissions(fields.user ?? null),
    label: '',
    subscribeOnly: false,
    replacedBy: null,
    ...fields,
  };
}
