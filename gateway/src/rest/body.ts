import { koaBody } from 'koa-body';
import { HttpError } from '../errors.js';
import type { RestMiddleware } from './rest-context.js';

const MAX_BYTES = 1024 * 1024;

/**
 * A body is read only if its type is JSON, and as text, which JSON.parse then checks. So a bare value, an empty body
 * and a field called `__proto__` are treated like any other.
 */
const readText = koaBody({
  json: false,
  urlencoded: false,
  multipart: false,
  textTypes: ['application/json', '+json'],
  textLimit: MAX_BYTES,
  onError: (error, ctx) => {
    ctx.req.unpipe().resume(); // The rest is discarded, so that the connection can take the next request.
    throw unreadable(error);
  },
});

/** Reads the request's body into `ctx.state`; answers 400 if it is not JSON, or is too large. */
export const jsonBody: RestMiddleware = async (ctx, next) => {
  await readText(ctx, () => Promise.resolve());
  const text: unknown = ctx.request.body;
  if (typeof text !== 'string') {
    throw new HttpError('validation_failed', 'body: must be JSON, sent with Content-Type: application/json');
  }
  ctx.state.bodyText = text;
  ctx.state.body = parsed(text);
  return next();
};

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new HttpError('validation_failed', 'body: must be valid JSON');
  }
}

/** Faults of the transfer: too long, cut off, badly compressed. All are caused by the client. */
function unreadable(error: Error & { readonly status?: number }): HttpError {
  if (error.status === 413) return new HttpError('validation_failed', `body: must be at most ${MAX_BYTES} bytes long`);
  if (error.status === 415)
    return new HttpError('validation_failed', 'body: must be uncompressed, or compressed with gzip or deflate');
  return new HttpError('validation_failed', 'body: ended before it was complete');
}
