import Router from '@koa/router';
import { algorithmRoutes } from './algorithms/routes.js';
import { deviceModelRoutes } from './device-models/routes.js';
import { healthRoutes } from './health/routes.js';
import { insightRoutes } from './insights/routes.js';
import { modalityRoutes } from './modalities/routes.js';
import { openapiRoutes } from './openapi/routes.js';
import type { RestOptions, RestState } from './rest-context.js';
import { sessionRoutes } from './sessions/routes.js';
import { uploadRoutes } from './uploads/routes.js';

/** Every route of the REST interface: one folder for each resource, with its operations for OpenAPI. */
export function routes(options: RestOptions): Router<RestState> {
  const router = new Router<RestState>({ sensitive: true, strict: true });
  deviceModelRoutes(router, options);
  modalityRoutes(router, options);
  sessionRoutes(router, options);
  insightRoutes(router, options);
  uploadRoutes(router, options);
  algorithmRoutes(router, options);
  healthRoutes(router, options);
  openapiRoutes(router);
  return router;
}
