import { HttpError } from '../errors.js';
import type { DeviceModel, Key, Session } from '../store/store.js';
import { UUID } from '../uuid.js';

/** A device model that a key may use: 404 if it does not exist, 403 if it belongs to another account. */
export function permittedModel(key: Key, model: DeviceModel | null): DeviceModel {
  if (!model) throw new HttpError('not_found', 'there is no device model with this id');
  if (model.accountId !== key.accountId)
    throw new HttpError('forbidden', 'this device model belongs to another account');
  return model;
}

/** A session that a key may see: a per-user key sees only that user's sessions. */
export function permittedSession(key: Key, session: Session | null): Session {
  if (!session) throw new HttpError('not_found', 'there is no session with this id');
  if (session.accountId !== key.accountId) throw new HttpError('forbidden', 'this session belongs to another account');
  if (key.user !== null && session.user !== key.user) {
    throw new HttpError(
      'forbidden',
      'this key sees only the sessions of its own user, and this session belongs to another user',
    );
  }
  return session;
}

/** An id from a path; 404 if it does not have the form of an id. */
export function pathId(text: string | undefined, what: string): string {
  const id = text?.toLowerCase();
  if (id !== undefined && UUID.test(id)) return id;
  throw new HttpError('not_found', `there is no ${what} with this id`);
}
