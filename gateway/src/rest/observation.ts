import type { IncomingMessage } from 'node:http';
import { pathOf } from '@device-insights/fanout/platform/http-server';
import type { RestMiddleware, RestOptions } from './rest-context.js';

/** The first step of a request: observes its answer, which the later steps make. */
export function observation({ observe, clock }: Pick<RestOptions, 'observe' | 'clock'>): RestMiddleware {
  return (ctx, next) => {
    const start = clock.monotonic();
    const { method, req, res } = ctx;
    res.once('close', () =>
      observe({
        method,
        route: routeOf(ctx),
        path: shownPath(req),
        status: res.statusCode,
        cut: !res.writableFinished,
        ms: clock.monotonic() - start,
        requestId: ctx.state.requestId,
        keyPrefix: ctx.state.key?.prefix,
      }),
    );
    return next();
  };
}

/** The router leaves it on the context. */
function routeOf(ctx: object): string | undefined {
  const route = '_matchedRoute' in ctx ? ctx._matchedRoute : undefined;
  return typeof route === 'string' ? route : undefined;
}

/** The path that no route took, without the query and no longer than a route's. */
function shownPath(request: IncomingMessage): string {
  return pathOf(request).slice(0, 100);
}
