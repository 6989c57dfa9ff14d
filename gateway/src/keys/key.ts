import { randomInt, randomUUID } from 'node:crypto';
import { hashKey } from '@device-insights/fanout/api-key';
import type { Key } from '../store/store.js';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SECRET_LENGTH = 32;

/** Generates a new API key: `svc_` and 190 random bits in base62. */
export function newKey(): string {
  return `svc_${Array.from({ length: SECRET_LENGTH }, () => BASE62[randomInt(62)]).join('')}`;
}

/** Builds the row of a key, which contains only its hash; the key itself is only for its holder. */
export function keyRow(
  key: string,
  accountId: string,
  user: string | null,
  now: number,
  expiresAt: number | null = null,
  subscribeOnly = false,
): Key {
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
    expiresAt,
    subscribeOnly,
    replacedBy: null,
  };
}
