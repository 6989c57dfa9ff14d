import { type KeyHolder, PERMISSIONS, type Permission } from './key-check.js';

/** The Redis hash with the copy of the store's keys: key hash -> JSON of its holder, or `REVOKED`. */
export const KEYS = 'di:keys';
/** The value of a revoked key. It stays, so that a gateway that looked the key up before cannot add it again. */
export const REVOKED = '';
/** A field that is always there: without it, Redis was emptied. */
export const MARK = 'copied';
/** The channel of nodes and gateways for messages about keys. */
export const KEY_CHANNEL = 'di:keys';

/** A node asks about a key, and a gateway answers; a gateway announces that a key is revoked. */
export type KeyWord =
  | { readonly word: 'ask' | 'no' | 'revoked'; readonly hash: string }
  | { readonly word: 'yes'; readonly hash: string; readonly holder: KeyHolder };

/** More than the longest message: a user of 200 characters, each of them escaped. */
const MAX_LENGTH = 4096;
const HASH = /^[0-9a-f]{64}$/;

/** Parses a message; undefined if it is not in the format of this service. */
export function parseWord(text: string): KeyWord | undefined {
  const { word, hash, holder } = fieldsOf(text);
  if (typeof hash !== 'string' || !HASH.test(hash)) return undefined;
  if (word === 'ask' || word === 'no' || word === 'revoked') return { word, hash };
  const known = word === 'yes' ? holderOf(holder) : undefined;
  return known && { word: 'yes', hash, holder: known };
}

/** Parses a holder as copied to Redis; undefined if it is not one. */
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

function holderOf(value: unknown): KeyHolder | undefined {
  const { account, user, permissions, expiresAt } = isObject(value) ? value : {};
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
