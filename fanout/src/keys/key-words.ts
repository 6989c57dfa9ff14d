import { type KeyHolder, PERMISSIONS, type Permission } from './key-check.js';

/** Redis hash: key hash -> JSON of its holder. The tag in braces puts all three on one server of a cluster. */
export const HOLDERS = '{di:keys}:holders';
/** Redis set of revoked key hashes; it only grows, and takes precedence over the holders. */
export const REVOKED = '{di:keys}:revoked';
/** Set once the mirror is complete; lost with it when Redis is emptied. */
export const READY = '{di:keys}:ready';
/** The messages between nodes and gateways about keys. */
export const KEY_CHANNEL = 'di:keys';

export type KeyWord =
  | { readonly word: 'ask' | 'no' | 'revoked'; readonly hash: string }
  | { readonly word: 'yes'; readonly hash: string; readonly holder: KeyHolder };

/** More than the longest message: a user of 200 characters, each of them escaped. */
const MAX_LENGTH = 4096;
const HASH = /^[0-9a-f]{64}$/;

export function say(word: KeyWord): string {
  return JSON.stringify(word);
}

/** Parses a message; undefined if it is not in the format of this service. */
export function parseWord(text: string): KeyWord | undefined {
  const { word, hash, holder } = fieldsOf(text);
  if (typeof hash !== 'string' || !HASH.test(hash)) return undefined;
  if (word === 'ask' || word === 'no' || word === 'revoked') return { word, hash };
  const known = word === 'yes' ? holderOf(holder) : undefined;
  return known && { word: 'yes', hash, holder: known };
}

/** Parses a holder as stored in the mirror; undefined if it is not one. */
export function parseHolder(text: string): KeyHolder | undefined {
  return holderOf(fieldsOf(text));
}

type Fields = Partial<Record<string, unknown>>;

/** The fields of a JSON object; none if the text is not one. */
function fieldsOf(text: string): Fields {
  if (text.length > MAX_LENGTH) return {};
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** A holder that was written before permissions existed has all of them. */
function holderOf(value: unknown): KeyHolder | undefined {
  const { account, user, permissions = PERMISSIONS, expiresAt = null } = isObject(value) ? value : {};
  if (typeof account !== 'string' || (user !== null && typeof user !== 'string')) return undefined;
  if (!Array.isArray(permissions) || (expiresAt !== null && typeof expiresAt !== 'number')) return undefined;
  return { account, user, permissions: permissions.filter(isPermission), expiresAt };
}

function isPermission(value: unknown): value is Permission {
  return PERMISSIONS.some((permission) => permission === value);
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}
