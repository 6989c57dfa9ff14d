import type Router from '@koa/router';
import { HttpError } from '../errors.js';
import type { RestMiddleware, RestState } from './rest-context.js';

/** What no route took: 405 where the path is known with other methods, else 404. */
export function unrouted(router: Router<RestState>): RestMiddleware {
  return (ctx) => {
    const methods = new Set(router.match(ctx.path, ctx.method).path.flatMap((layer) => layer.methods));
    if (methods.size === 0) throw new HttpError('not_found', 'there is nothing at this path: see /openapi.json');
    const allow = [...methods].join(', ');
    throw new HttpError('method_not_allowed', `this path takes ${allow}, not ${ctx.method}`, { Allow: allow });
  };
}
