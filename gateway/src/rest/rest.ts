import cors from '@koa/cors';
import Koa, { type Middleware } from 'koa';
import compress from 'koa-compress';
import helmet from 'koa-helmet';
import { authentication } from './authentication.js';
import { failures } from './failures.js';
import { observation } from './observation.js';
import { requestId } from './request-id.js';
import type { RestOptions, RestState } from './rest-context.js';
import { routes } from './routes.js';
import { unrouted } from './unrouted.js';

/** Any origin may call, with the key in a header: there are no cookies, so no credentials are shared. */
const CORS = {
  origin: '*',
  allowMethods: ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'],
  allowHeaders: ['Authorization', 'Content-Type', 'Idempotency-Key'],
  exposeHeaders: ['Link', 'X-Request-Id', 'Date', 'Retry-After'],
  maxAge: 86_400,
  keepHeadersOnError: false,
};

/** Smaller answers do not get smaller, bytes. */
const LEAST_BYTES = 1024;

const CLIENT_LEFT = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE']);

/** The REST interface of the service: a Koa application, to be mounted on the gateway's HTTP server. */
export function createRest(options: RestOptions): Koa<RestState> {
  const app = new Koa<RestState>();
  const router = routes(options);
  app.on('error', brokenOff(options.log));
  app.use(observation(options));
  app.use(requestId);
  app.use(failures(options.log));
  app.use(helmet({ crossOriginResourcePolicy: { policy: 'cross-origin' } })); // As for CORS: any origin.
  app.use(cors(CORS));
  app.use(compression());
  app.use(authentication(options));
  app.use(router.routes());
  app.use(unrouted(router, options.sockets));
  return app;
}

/** Logs a response that failed after it had begun. A client that disconnected is not a failure. */
function brokenOff(log: RestOptions['log']) {
  return (err: NodeJS.ErrnoException, ctx?: { readonly state: RestState }): void => {
    if (err.code !== undefined && CLIENT_LEFT.has(err.code)) return;
    log.error({ err, requestId: ctx?.state.requestId }, 'a response ended before it was complete');
  };
}

/**
 * gzip for JSON of more than 1 kB, where the client takes it. No answer of this interface holds a key, so that nothing secret shares a
 * compressed text with what a stranger may have sent (BREACH).
 */
function compression(): Middleware<RestState> {
  const compressed = compress({ threshold: LEAST_BYTES, gzip: { level: 4 }, br: false, deflate: false, zstd: false });
  return (ctx, next) => {
    // koa-compress fails (500) for a client that accepts neither, as with `br, identity;q=0`: it gets plain JSON.
    if (!ctx.acceptsEncodings('gzip', 'identity')) ctx.compress = false;
    return compressed(ctx, next);
  };
}
