import Router from '@koa/router';
import { algorithmOperations } from './algorithms/routes.js';
import { jsonBody } from './body.js';
import { deviceModelOperations } from './device-models/routes.js';
import { healthOperations } from './health/routes.js';
import { idempotent } from './idempotency.js';
import { insightOperations } from './insights/routes.js';
import { modalityOperations } from './modalities/routes.js';
import { type Operation, type Operations, successOf } from './openapi/operation.js';
import { openapiOperations } from './openapi/routes.js';
import type { RestOptions, RestState, RestStep } from './rest-context.js';
import { sessionOperations } from './sessions/routes.js';
import { uploadOperations } from './uploads/routes.js';

/** All operations of the REST interface, in the order in which they are documented: one folder for each resource. */
export const OPERATIONS: Operations = {
  ...deviceModelOperations,
  ...modalityOperations,
  ...sessionOperations,
  ...insightOperations,
  ...uploadOperations,
  ...algorithmOperations,
  ...healthOperations,
  ...openapiOperations,
};

/** The routes of all operations. */
export function routes(options: RestOptions): Router<RestState> {
  const router = new Router<RestState>({ sensitive: true, strict: true });
  for (const [route, operation] of Object.entries(OPERATIONS)) {
    const [method = '', path = ''] = route.split(' ');
    const answer: RestStep = async (ctx) => {
      await operation.handle(ctx, options);
      ctx.status = successOf(method);
    };
    const steps = operation.steps?.(options) ?? stepsOf(operation, options);
    router.register(path.replace(/\{(\w+)\}/g, ':$1'), [method], [...steps, answer]);
  }
  return router;
}

function stepsOf({ body, isIdempotent }: Operation, options: RestOptions): RestStep[] {
  return [...(body ? [jsonBody] : []), ...(isIdempotent ? [idempotent(options)] : [])];
}
