import { eraseAccount, eraseHolder, eraseSession } from '../erasure/erasure.js';
import { accountOf } from './accounts.js';
import { Refusal } from './refusal.js';
import { note, type Workplace } from './workplace.js';

/** Erases a closed session with its insights. */
export async function deleteSession(place: Workplace, id: string): Promise<object> {
  const session = await place.store.session(id);
  if (!session) throw new Refusal(`there is no session with the id ${JSON.stringify(id)}`);
  if (session.status === 'open') {
    throw new Refusal('the session is open: end it at its device, or wait until its grace period has passed');
  }
  const erased = await eraseSession(place, session);
  await note(place, 'session deleted', session.accountId, `${id} of ${session.deviceId}`);
  return { id, ...erased };
}

/** Erases what an account has of one user: sessions, open ones too, insights and keys. The audit log stays. */
export async function eraseUser(place: Workplace, accountId: string, user: string): Promise<object> {
  const { id } = await accountOf(place, accountId);
  await note(place, 'user erasure begun', id, user);
  const erased = await eraseHolder(place, id, user);
  if (erased.keys + erased.sessions === 0) {
    throw new Refusal(`the account has no key and no session of the user ${JSON.stringify(user)}`);
  }
  await note(place, 'user erased', id, user);
  return { account_id: id, user, ...erased };
}

/** Erases an account and all that it has. The audit log stays. */
export async function deleteAccount(place: Workplace, accountId: string): Promise<object> {
  const { id, name } = await accountOf(place, accountId);
  await note(place, 'account deletion begun', id, name);
  const erased = await eraseAccount(place, id);
  if (!erased) throw new Refusal('sessions were opened meanwhile with a new key of the account: run it again');
  await note(place, 'account deleted', id, name);
  return { id, name, ...erased };
}
