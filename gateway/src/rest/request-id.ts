import { randomUUID } from 'node:crypto';
import { holdsKey } from '@device-insights/fanout/api-key';
import type { RestMiddleware } from './rest-context.js';

const REQUEST_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/** Gives every request an identifier, in the response and in the log: the client's own, if it is well-formed. */
export const requestId: RestMiddleware = (ctx, next) => {
  const given = ctx.get('X-Request-Id');
  ctx.state.requestId = REQUEST_ID.test(given) && !holdsKey(given) ? given : randomUUID();
  ctx.set('X-Request-Id', ctx.state.requestId);
  return next();
};
