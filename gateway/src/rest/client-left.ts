import { HttpError } from '../errors.js';
import type { RestContext } from './rest-context.js';

/** A signal that is aborted when the client leaves: nobody waits for the rest of the work of its request. */
export function clientLeft({ req, res }: Pick<RestContext, 'req' | 'res'>): AbortSignal {
  const left = new AbortController();
  const leave = () => left.abort(new HttpError('validation_failed', 'the client left before the answer'));
  if (req.socket.destroyed) leave();
  res.once('close', leave);
  return left.signal;
}
