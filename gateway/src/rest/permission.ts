import { HttpError } from '../errors.js';
import type { DeviceModel, Key, Session } from '../store/store.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** A device model that a key may use: 404 where there is none, 403 where it is another account's. */
export function permittedModel(key: Key, model: DeviceModel | null): DeviceModel {
  if (!model) throw new HttpError('not_found', 'there is no device model with this id');
  if (model.accountId !== key.accountId) throw new HttpError('forbidden', 'this device model is not of your account');
  return model;
}

/** A session that a key may see: a per-user key sees that user's alone. */
export function permittedSession(key: Key, session: Session | null): Session {
  if (!session) throw new HttpError('not_found', 'there is no session with this id');
  if (session.accountId !== key.accountId) throw new HttpError('forbidden', 'this session is not of your account');
  if (key.user !== null && session.user !== key.user) {
    throw new HttpError('forbidden', "this key sees its own user's sessions only, and this is another's");
  }
  return session;
}

/** An id out of a path; 404 where it cannot be one: there is nothing under it then. */
export function pathId(text: string | undefined, what: string): string {
  if (text !== undefined && UUID.test(text)) return text.toLowerCase();
  throw new HttpError('not_found', `there is no ${what} with this id`);
}
