import { keyRow } from '../bootstrap.js';
import { newKey } from '../keys.js';
import type { Key } from '../store/store.js';
import { accountOf } from './accounts.js';
import { chosen, Refusal, time } from './refusal.js';
import type { Workplace } from './workplace.js';

/** Makes a key of an account, or of one user of it. The key itself is in this answer alone. */
export async function issueKey(place: Workplace, accountId: string, user: string | undefined): Promise<object> {
  const { id } = await accountOf(place, accountId);
  const key = newKey();
  const row = keyRow(key, id, user === undefined ? null : chosen('the user', user), place.clock.now());
  await place.store.addKey(row);
  return { ...shown(row), key };
}

/** Revokes a key for ever; where it is revoked already, the first time stays. */
export async function revokeKey({ store, clock }: Workplace, id: string): Promise<object> {
  const key = await store.revokeKey(id, clock.now());
  if (!key) throw new Refusal(`there is no key with the id ${JSON.stringify(id)}: see "admin key list"`);
  return shown(key);
}

export async function listKeys(place: Workplace, accountId: string): Promise<object[]> {
  const { id } = await accountOf(place, accountId);
  return (await place.store.keys(id)).map(shown);
}

function shown(key: Key): object {
  return {
    id: key.id,
    account_id: key.accountId,
    user: key.user,
    prefix: key.prefix,
    last_four: key.lastFour,
    created_at: time(key.createdAt),
    last_used_at: time(key.lastUsedAt),
    revoked_at: time(key.revokedAt),
  };
}
