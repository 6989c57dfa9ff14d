import { eraseAccount, eraseHolder, eraseSession } from '../erasure/erasure.js';
import { accountOf } from './accounts.js';
import { type AdminContext, note } from './context.js';
import { Refusal } from './refusal.js';

/** Erases a closed session with its insights. */
export async function deleteSession(context: AdminContext, id: string): Promise<object> {
  const session = await context.store.session(id);
  if (!session) throw new Refusal(`there is no session with the id ${JSON.stringify(id)}`);
  if (session.status === 'open') {
    throw new Refusal('the session is open: end it at its device, or wait until its grace period has passed');
  }
  const erased = await eraseSession(context, session);
  await note(context, 'session deleted', session.accountId, `${id} of ${session.deviceId}`);
  return { id, ...erased };
}

/** Erases the data of one user: sessions, including open ones, insights and keys. The audit log stays. */
export async function eraseUser(context: AdminContext, accountId: string, user: string): Promise<object> {
  const { id } = await accountOf(context, accountId);
  await note(context, 'user erasure begun', id, user);
  const erased = await eraseHolder(context, id, user);
  if (erased.keys + erased.sessions === 0) {
    throw new Refusal(`the account has no key and no session of the user ${JSON.stringify(user)}`);
  }
  await note(context, 'user erased', id, user);
  return { account_id: id, user, ...erased };
}

/** Erases an account and all that it has. The audit log stays. */
export async function deleteAccount(context: AdminContext, accountId: string): Promise<object> {
  const { id, name } = await accountOf(context, accountId);
  await note(context, 'account deletion begun', id, name);
  const erased = await eraseAccount(context, id);
  if (!erased) throw new Refusal('a new key of the account opened sessions meanwhile: run the command again');
  await note(context, 'account deleted', id, name);
  return { id, name, ...erased };
}
