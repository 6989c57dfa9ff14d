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
        log.error(
          { err, requestId: ctx.state.requestId, method: ctx.method, path: pathOf(ctx.url) },
          'a request failed',
        );
      }
      ctx.status = refusal.status;
      ctx.set({ ...refusal.headers });
      ctx.body = { detail: refusal.message };
    }
  };
}

/** Without the query, which may hold what was sent by mistake; Koa's own `path` throws where the target is no URL. */
function pathOf(url: string): string | undefined {
  return url.split('?', 1)[0];
}

function asRefusal(err: unknown): HttpError {
  if (err instanceof HttpError) return err;
  if (err instanceof BadCursor) {
    return new HttpError('validation_failed', 'cursor: must be one that a Link header of this list gave');
  }
  if (isBadTarget(err)) return new HttpError('validation_failed', 'the request target must be a path or a valid URL');
  return new HttpError('internal', INTERNAL);
}

/** A target in absolute form (RFC 9112, 3.2.2) that is no URL: Koa reads it when the path is first asked for. */
function isBadTarget(err: unknown): boolean {
  return err instanceof TypeError && 'code' in err && err.code === 'ERR_INVALID_URL';
}
