import { koaBody } from 'koa-body';
import { HttpError } from '../errors.js';
import type { RestMiddleware } from './rest-context.js';

const MAX_BYTES = 1024 * 1024;

/**
 * A body is read only if its type is JSON, and as text of one character for each byte, because koa-body replaces
 * what is not UTF-8. JSON.parse then checks it, so a bare value, an empty body and a field called `__proto__` are
 * treated like any other.
 */
const readBytes = koaBody({
  json: false,
  urlencoded: false,
  multipart: false,
  textTypes: ['application/json', '+json'],
  textLimit: MAX_BYTES,
  encoding: 'binary',
  onError: (error, ctx) => {
    ctx.req.unpipe().resume(); // The rest is discarded, so that the connection can take the next request.
    throw unreadable(error);
  },
});

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads the request's body into `ctx.state`; answers 400 if it is not JSON in UTF-8, or is too large. A body may take
 * long to arrive, so the key or login is checked again after it: 401 if it was revoked meanwhile.
 */
export const jsonBody: RestMiddleware = async (ctx, next) => {
  await readBytes(ctx, () => Promise.resolve());
  await ctx.state.authenticate?.();
  const bytes: unknown = ctx.request.body;
  if (typeof bytes !== 'string') {
    throw new HttpError('validation_failed', 'body: must be JSON, sent with Content-Type: application/json');
  }
  if (!/^(utf-?8)?$/i.test(ctx.request.charset)) {
    throw new HttpError('validation_failed', 'body: must be in UTF-8: remove the other charset of its Content-Type');
  }
  ctx.state.bodyText = decoded(Buffer.from(bytes, 'latin1'));
  ctx.state.body = parsed(ctx.state.bodyText);
  return next();
};

/** Other bytes are refused, because text with replaced characters is damaged, and hides that two bodies differ. */
function decoded(bytes: Buffer): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    throw new HttpError('validation_failed', 'body: must be in UTF-8: it contains bytes of another encoding');
  }
}

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
