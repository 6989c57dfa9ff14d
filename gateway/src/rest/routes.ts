import Router from '@koa/router';
import { algorithmRoutes } from './algorithms.js';
import { deviceModelRoutes } from './device-models.js';
import { healthRoutes } from './health.js';
import { insightRoutes } from './insights.js';
import { modalityRoutes } from './modalities.js';
import { openapiRoutes } from './openapi/openapi.js';
import type { RestOptions, RestState } from './rest-context.js';
import { sessionRoutes } from './sessions.js';

/** Every route of the REST interface: one file a resource, each handler under its OpenAPI block. */
export function routes(options: RestOptions): Router<RestState> {
  const router = new Router<RestState>({ sensitive: true });
  deviceModelRoutes(router, options);
  modalityRoutes(router, options);
  sessionRoutes(router, options);
  insightRoutes(router, options);
  algorithmRoutes(router, options);
  healthRoutes(router, options);
  openapiRoutes(router);
  return router;
}
