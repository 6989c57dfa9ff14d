import type { IncomingMessage } from 'node:http';
import { hashKey, keyInHeader, prefixOf } from '@device-insights/fanout/api-key';
import { clientAddress } from '@device-insights/fanout/platform/client-address';
import type { Context } from 'koa';
import { HttpError } from '../errors.js';
import type { Key } from '../store/store.js';
import { HEALTH_PATH } from './health/routes.js';
import { OPENAPI_PATH } from './openapi/routes.js';
import { type RestMiddleware, type RestOptions, unauthenticated } from './rest-context.js';
import { UPLOADS_PATH } from './uploads/routes.js';

/** Checks the key within /v1 and for /openapi.json before everything else, including the path. */
export function authentication(options: RestOptions): RestMiddleware {
  return async (ctx, next) => {
    if (needsKey(ctx)) {
      ctx.state.authenticate = async () => {
        const key = await authenticate(options, ctx.req);
        refuseUnpermitted(ctx, key);
        ctx.state.key = key;
      };
      await ctx.state.authenticate();
    }
    return next();
  };
}

/** Reading needs `read`, uploads `stream`, everything else `manage`; the OpenAPI document is for every key. */
function refuseUnpermitted({ method, path }: Context, { permissions }: Key): void {
  const change = path === UPLOADS_PATH ? 'stream' : 'manage';
  const needed = method === 'GET' || method === 'HEAD' ? 'read' : change;
  if (path === OPENAPI_PATH || permissions.includes(needed)) return;
  throw new HttpError(
    'forbidden',
    `the API key lacks the permission "${needed}", which ${method} needs: use a key that has it (admin key issue --permissions)`,
  );
}

function needsKey(ctx: Context): boolean {
  if (ctx.path === HEALTH_PATH) return ctx.method !== 'GET' && ctx.method !== 'HEAD';
  return ctx.path === '/v1' || ctx.path.startsWith('/v1/') || ctx.path === OPENAPI_PATH;
}

async function authenticate({ keys, log }: RestOptions, request: IncomingMessage): Promise<Key> {
  const header = request.headers.authorization ?? '';
  if (header === '') throw unauthenticated('the API key is missing: send "Authorization: Bearer svc_…"');
  const text = keyInHeader(header);
  if (text === null) {
    throw unauthenticated('the Authorization header must be "Bearer " and an API key, which begins with svc_');
  }
  const key = await keys.key(hashKey(text));
  if (key) return key;
  log.warn({ address: clientAddress(request), keyPrefix: prefixOf(text) }, 'an API key was refused');
  throw unauthenticated('the API key is unknown, revoked or expired: ask the operator for a new one (admin key issue)');
}
