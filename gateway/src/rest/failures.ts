import { HttpError } from '../errors.js';
import { BadCursor } from '../store/store.js';
import type { RestMiddleware, RestOptions } from './rest-context.js';

const INTERNAL = 'the service could not do this now: try again after a while, and tell its operator the X-Request-Id';

/** Turns what later steps throw into `{detail}`. A 500 says nothing of the inside; its cause is in the log. */
export function failures(log: RestOptions['log']): RestMiddleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (err) {
      const refusal = asRefusal(err);
      if (refusal.status >= 500) {
        log.error({ err, requestId: ctx.state.requestId, method: ctx.method, path: ctx.path }, 'a request failed');
      }
      ctx.status = refusal.status;
      ctx.set({ ...refusal.headers });
      ctx.body = { detail: refusal.message };
    }
  };
}

function asRefusal(err: unknown): HttpError {
  if (err instanceof HttpError) return err;
  if (err instanceof BadCursor) {
    return new HttpError('validation_failed', 'cursor: must be one that a Link header of this list gave');
  }
  return new HttpError('internal', INTERNAL);
}
