import { pathOf } from '@device-insights/fanout/platform/http-server';
import { HttpError } from '../errors.js';
import { BadCursor } from '../store/store.js';
import type { RestMiddleware, RestOptions } from './rest-context.js';

const INTERNAL =
  'the request failed inside the service: try again later; if it fails again, give the X-Request-Id to the operator';

/** Turns the errors of later steps into `{detail}`. A 500 reveals no internals; its cause is in the log. */
export function failures(log: RestOptions['log']): RestMiddleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (err) {
      const refusal = asRefusal(err);
      if (refusal.status >= 500) {
        log.error(
          { err, requestId: ctx.state.requestId, method: ctx.method, path: pathOf(ctx.req) },
          'a request failed',
        );
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
    return new HttpError('validation_failed', 'cursor: must be taken from the Link header of a page of this list');
  }
  if (isBadTarget(err)) return new HttpError('validation_failed', 'the request target must be a path or a valid URL');
  return new HttpError('internal', INTERNAL);
}

/** Whether a target in absolute form (RFC 9112, 3.2.2) is not a URL: Koa parses it when the path is first used. */
function isBadTarget(err: unknown): boolean {
  return err instanceof TypeError && 'code' in err && err.code === 'ERR_INVALID_URL';
}
