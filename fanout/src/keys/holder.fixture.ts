import { type KeyHolder, PERMISSIONS } from './key-check.js';

/** The holder of a key that may do everything; of the whole account unless a user is given. */
export function holderWith(account: string, fields: Partial<KeyHolder> = {}): KeyHolder {
  return { account, user: null, permissions: PERMISSIONS, expiresAt: null, ...fields };
}
