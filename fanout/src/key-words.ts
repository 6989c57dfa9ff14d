import type { KeyHolder } from './keys.js';

/** Redis hash: key hash -> JSON of its holder. The tag in braces puts all three on one server of a cluster. */
export const HOLDERS = '{di:keys}:holders';
/** Redis set of revoked key hashes; only grows, and wins over the holders. */
export const REVOKED = '{di:keys}:revoked';
/** Set once the mirror is complete; gone with it when Redis was emptied. */
export const READY = '{di:keys}:ready';
/** What nodes and gateways say to each other about keys. */
export const KEY_CHANNEL = 'di:keys';

export type KeyWord =
  | { readonly word: 'ask' | 'no' | 'revoked'; readonly hash: string }
  | { readonly word: 'yes'; readonly hash: string; readonly holder: KeyHolder };

export function say(word: KeyWord): string {
  return JSON.stringify(word);
}

/** Reads what was said; undefined where it is none of our words. */
export function parseWord(text: string): KeyWord | undefined {
  try {
    const { word, hash, holder } = JSON.parse(text) as Partial<Record<string, unknown>>;
    if (typeof hash !== 'string') return undefined;
    if (word === 'ask' || word === 'no' || word === 'revoked') return { word, hash };
    return word === 'yes' && isHolder(holder) ? { word, hash, holder } : undefined;
  } catch {
    return undefined;
  }
}

/** Reads a holder as the mirror keeps it; undefined where it is none. */
export function parseHolder(text: string): KeyHolder | undefined {
  try {
    const holder: unknown = JSON.parse(text);
    return isHolder(holder) ? holder : undefined;
  } catch {
    return undefined;
  }
}

function isHolder(value: unknown): value is KeyHolder {
  if (typeof value !== 'object' || value === null) return false;
  const { account, user } = value as Partial<Record<string, unknown>>;
  return typeof account === 'string' && (user === null || typeof user === 'string');
}
