import type { Middleware } from 'koa';
import compress from 'koa-compress';
import type { RestState } from './rest-context.js';

/** Smaller answers do not get smaller, bytes. */
const LEAST_BYTES = 1024;

/**
 * gzip for JSON of more than 1 kB, where the client takes it. No answer of this interface holds a key, so that nothing secret shares a
 * compressed text with what a stranger may have sent (BREACH).
 */
export function compression(): Middleware<RestState> {
  const compressed = compress({ threshold: LEAST_BYTES, gzip: { level: 4 }, br: false, deflate: false, zstd: false });
  return (ctx, next) => {
    // koa-compress fails (500) for a client that accepts neither, as with `br, identity;q=0`: it gets plain JSON.
    if (!ctx.acceptsEncodings('gzip', 'identity')) ctx.compress = false;
    return compressed(ctx, next);
  };
}
