import { PERMISSIONS, type Permission } from '@device-insights/fanout/key-check';
import { keyRow, newKey, usualPermissions } from '../keys/key.js';
import type { Key } from '../store/store.js';
import { accountOf } from './accounts.js';
import { type AdminContext, note } from './context.js';
import { expiryOf } from './expiry.js';
import { chosen, Refusal } from './refusal.js';
import { keyShown } from './shown.js';

/** The options of a new key. */
export interface KeyWishes {
  readonly user?: string | undefined;
  /** A time from now, such as `30d`, or an RFC 3339 time; default: never. */
  readonly expires?: string | undefined;
  /** Default: all of them, for a user's key `read` and `stream`. */
  readonly permissions?: readonly string[] | undefined;
  readonly label?: string | undefined;
}

/** Issues a key of an account, or of one of its users. Only this answer contains the key itself. */
export async function issueKey(
  context: AdminContext,
  accountId: string,
  { user, expires, permissions, label }: KeyWishes,
): Promise<object> {
  const { id } = await accountOf(context, accountId);
  const key = newKey();
  const now = context.clock.now();
  const owner = user === undefined ? null : chosen('the user', user);
  const row = keyRow(key, {
    accountId: id,
    user: owner,
    createdAt: now,
    expiresAt: expires === undefined ? null : expiryOf('the expiry', expires, now),
    permissions: permissions === undefined ? usualPermissions(owner) : permissionsOf(permissions, owner),
    label: labelOf(label ?? ''),
  });
  await context.store.addKey(row);
  await note(context, 'key issued', id, faceOf(row));
  return { ...keyShown(row), key };
}

/** Gives a key another label. */
export async function labelKey(context: AdminContext, id: string, label: string): Promise<object> {
  const key = found(id, await context.store.labelKey(id, labelOf(label)));
  await note(context, 'key labelled', key.accountId, faceOf(key));
  return keyShown(key);
}

function labelOf(text: string): string {
  if ([...text].length > 100) throw new Refusal('the label must have at most 100 characters');
  return text;
}

function permissionsOf(names: readonly string[], user: string | null): readonly Permission[] {
  const unknown = names.find((name) => !PERMISSIONS.some((permission) => permission === name));
  if (unknown !== undefined || names.length === 0)
    throw new Refusal(
      `the permissions must be one or more of ${PERMISSIONS.join(', ')}, not ${JSON.stringify(names.join())}`,
    );
  if (user !== null && names.includes('manage'))
    throw new Refusal("a user's key cannot have the permission manage: device models belong to the whole account");
  return PERMISSIONS.filter((permission) => names.includes(permission));
}

/** Revokes a key permanently; if it is already revoked, the first time is kept. */
export async function revokeKey(context: AdminContext, id: string): Promise<object> {
  const key = found(id, await context.store.revokeKey(id, context.clock.now()));
  await note(context, 'key revoked', key.accountId, faceOf(key));
  return keyShown(key);
}

/**
 * Issues a key that replaces another one, which stays valid for an overlap and then expires. Only this answer
 * contains the new key.
 * @param overlap how long the old key stays valid, such as `24h`
 */
export async function rotateKey(context: AdminContext, id: string, overlap: string): Promise<object> {
  const old = found(id, await context.store.key(id));
  const key = newKey();
  const now = context.clock.now();
  const { accountId, user, permissions, label } = old;
  const row = keyRow(key, { accountId, user, permissions, label, createdAt: now });
  if (!(await context.store.replaceKey(id, row, expiryOf('the end of the overlap', overlap, now))))
    throw new Refusal('the key is already revoked, expired or replaced: issue another one');
  await note(context, 'key rotated', old.accountId, `${faceOf(old)}, replaced by ${faceOf(row)}`);
  return { ...keyShown(row), key };
}

function found(id: string, key: Key | null): Key {
  if (!key) throw new Refusal(`there is no key with the id ${JSON.stringify(id)}: see "admin key list"`);
  return key;
}

/** The form in which people see a key. */
function faceOf({ prefix, lastFour, user, label }: Key): string {
  const name = label === '' ? '' : ` (${label})`;
  return `${prefix}…${lastFour}${name}${user === null ? '' : ` of ${user}`}`;
}

export async function listKeys(context: AdminContext, accountId: string): Promise<object[]> {
  const { id } = await accountOf(context, accountId);
  return (await context.store.keys(id)).filter(({ subscribeOnly }) => !subscribeOnly).map(keyShown);
}
