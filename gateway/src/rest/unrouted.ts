import { USE_WEBSOCKET } from '@device-insights/fanout/platform/refusal';
import type Router from '@koa/router';
import { HttpError } from '../errors.js';
import type { RestMiddleware, RestState } from './rest-context.js';

/** RFC 9110, 15.5.22. */
const UPGRADE = { Connection: 'Upgrade', Upgrade: 'websocket' };
const NOTHING = 'there is no resource at this path: see /openapi.json, with your API key';
const SOCKET_METHODS = ['GET', 'HEAD'];

/**
 * Answers requests that match no route: 405 if the path exists with other methods, 426 if it belongs to a socket,
 * otherwise 404.
 */
export function unrouted(router: Router<RestState>, sockets: readonly string[]): RestMiddleware {
  return (ctx) => {
    const isSocket = sockets.includes(ctx.path);
    if (isSocket && SOCKET_METHODS.includes(ctx.method))
      throw new HttpError('upgrade_required', USE_WEBSOCKET, UPGRADE);
    const routed = router.match(ctx.path, ctx.method).path.flatMap((layer) => layer.methods);
    const methods = new Set(isSocket ? SOCKET_METHODS : routed);
    if (methods.size === 0) throw new HttpError('not_found', NOTHING);
    const allow = [...methods].join(', ');
    throw new HttpError('method_not_allowed', `this path accepts ${allow}, not ${ctx.method}`, { Allow: allow });
  };
}
