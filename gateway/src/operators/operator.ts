import { randomUUID } from 'node:crypto';
import type { AuditStore, KeyStore, Operator, OperatorStore, Role } from '../store/store.js';
import { hashPassword, newPassword } from './password.js';

const FIRST = 'admin';

/** Revokes the keys of the live pages of an operator, except the newest `keep`: their sockets close. */
export async function endLiveKeys(
  store: Pick<KeyStore, 'subscribeKeys' | 'revokeKey'>,
  operatorId: string,
  at: number,
  keep = 0,
): Promise<void> {
  const keys = await store.subscribeKeys(operatorId);
  for (const { id } of keys.slice(0, Math.max(0, keys.length - keep))) await store.revokeKey(id, at);
}

/** Sets another password for an operator, and signs them out everywhere, live pages included; null if it does not exist. */
export async function setPassword(
  store: Pick<KeyStore, 'subscribeKeys' | 'revokeKey'> & Pick<OperatorStore, 'setOperatorPassword'>,
  id: string,
  password: string,
  at: number,
): Promise<Operator | null> {
  const operator = await store.setOperatorPassword(id, await hashPassword(password));
  if (operator) await endLiveKeys(store, id, at);
  return operator;
}

/** Builds the row of an operator, which contains the password's hash. */
export async function operatorRow(name: string, role: Role, password: string, now: number): Promise<Operator> {
  return { id: randomUUID(), name, role, password: await hashPassword(password), revision: 1, createdAt: now };
}

/** The first operator of a new store, with the password to be shown once. */
interface FirstOperator {
  readonly name: string;
  /** Null if the password was configured. */
  readonly password: string | null;
}

/**
 * Makes sure that somebody can sign in: if there is no operator, creates `admin` with the configured password or a
 * generated one.
 * @returns null if there was an operator
 */
export async function firstOperator(
  store: OperatorStore & AuditStore,
  given: string | null,
  now: number,
): Promise<FirstOperator | null> {
  if ((await store.operators()).length > 0) return null;
  const password = given ?? newPassword();
  const added = await store.addOperator(await operatorRow(FIRST, 'operator', password, now));
  if (!added) return null; // Another gateway was faster.
  await store.audit({ at: now, actor: 'the first start', action: 'operator added', accountId: null, subject: FIRST });
  return { name: FIRST, password: given === null ? password : null };
}
