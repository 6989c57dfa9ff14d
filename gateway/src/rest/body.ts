import type { IncomingMessage } from 'node:http';
import { koaBody } from 'koa-body';
import { HttpError } from '../errors.js';
import { Queue } from '../queue.js';
import type { RestMiddleware } from './rest-context.js';

const MAX_BYTES = 1024 * 1024;
/** Maximum length of a body that may arrive while any number of others do; a device model of 64 channels is shorter, bytes. */
const SMALL_BYTES = 32 * 1024;
/** Maximum number of bodies of one account that are read at once. */
const MOST_OF_ONE = 8;
/** Bodies of all accounts after which each account may have only one, 1 MiB each. */
const MOST_OF_ALL = 128;
/** Stands for all operators, as if they were one account. */
const OPERATORS = '';
const large = largeBodies();

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads the request's body into `ctx.state`; answers 400 if it is not JSON in UTF-8, or is too large. A body may take
 * long to arrive, so the key or login is checked again after it: 401 if it was revoked meanwhile.
 */
export const jsonBody = jsonBodyUpTo(MAX_BYTES);

/** The same with another limit, bytes: where no key or login is needed, a stranger's bodies must take little memory. */
export function jsonBodyUpTo(most: number): RestMiddleware {
  const read = readerUpTo(most);
  return async (ctx, next) => {
    if (most <= SMALL_BYTES || isSmall(ctx.req)) await read(ctx);
    else await large.run(ctx.state.key?.accountId ?? OPERATORS, () => whileThere(ctx.req, read(ctx)));
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
}

/**
 * A body is read only if its type is JSON, and as text of one character for each byte, because koa-body replaces
 * what is not UTF-8. JSON.parse then checks it, so a bare value, an empty body and a field called `__proto__` are
 * treated like any other.
 */
function readerUpTo(most: number): (ctx: Parameters<RestMiddleware>[0]) => Promise<void> {
  const read = koaBody({
    json: false,
    urlencoded: false,
    multipart: false,
    textTypes: ['application/json', '+json'],
    textLimit: most,
    encoding: 'binary',
    onError: (error, ctx) => {
      ctx.req.unpipe().resume(); // The rest is discarded, so that the connection can take the next request.
      throw unreadable(error, most);
    },
  });
  return (ctx) => read(ctx, () => Promise.resolve());
}

/** Whether a request says that its body is small, and it cannot inflate. */
function isSmall({ headers }: IncomingMessage): boolean {
  return headers['content-encoding'] === undefined && Number(headers['content-length']) <= SMALL_BYTES;
}

/** Rejects if the client leaves before its body is complete: reading a compressed one would never end. */
function whileThere(request: IncomingMessage, work: Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    const gone = () => request.complete || reject(cutOff());
    if (request.destroyed) gone();
    request.once('close', gone);
    work.then(resolve, reject);
  });
}

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
function unreadable(error: Error & { readonly status?: number }, most: number): HttpError {
  if (error.status === 413) return new HttpError('validation_failed', `body: must be at most ${most} bytes long`);
  if (error.status === 415)
    return new HttpError('validation_failed', 'body: must be uncompressed, or compressed with gzip or deflate');
  return cutOff();
}

function cutOff(): HttpError {
  return new HttpError('validation_failed', 'body: ended before it was complete');
}

/**
 * Limits the memory that large bodies take while they arrive, which may take half a minute. An account reads up to 8 at
 * once, but no more than an eighth of what the others leave of 128: so all of them take at most 128 and one for each
 * account, and an account always has its one at once, whatever the others do.
 */
export function largeBodies(): Queue {
  return new Queue({ each: (reading) => Math.max(1, Math.min(MOST_OF_ONE, (MOST_OF_ALL - reading) / MOST_OF_ONE)) });
}
