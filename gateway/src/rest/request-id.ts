import { randomUUID } from 'node:crypto';
import type { RestMiddleware } from './rest-context.js';

/** Names every request: the id is in the response and in the log. */
export const requestId: RestMiddleware = (ctx, next) => {
  ctx.state.requestId = randomUUID();
  ctx.set('X-Request-Id', ctx.state.requestId);
  return next();
};
