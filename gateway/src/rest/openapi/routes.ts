import { readFileSync } from 'node:fs';
import type Router from '@koa/router';
import { keyOf, type RestState } from '../rest-context.js';

export const OPENAPI_PATH = '/openapi.json';
/** The generated document, beside the package's manifest. */
export const OPENAPI_FILE = new URL('../../../openapi.json', import.meta.url);

/** The machine-readable schema of the REST API. */
export function openapiRoutes(router: Router<RestState>): void {
  const text = readFileSync(OPENAPI_FILE, 'utf8');

  /**
   * @openapi
   * /openapi.json:
   *   get:
   *     operationId: getOpenApi
   *     tags: [schema]
   *     summary: This document
   *     description: >-
   *       The same document as in the repository, for tools that make clients.
   *     responses:
   *       '200':
   *         description: The OpenAPI document.
   *         content:
   *           application/json:
   *             schema: { type: object, additionalProperties: true }
   *       '401': { $ref: '#/components/responses/Unauthenticated' }
   *       '500': { $ref: '#/components/responses/ServerError' }
   */
  router.get(OPENAPI_PATH, (ctx) => {
    keyOf(ctx);
    ctx.type = 'json';
    ctx.body = text;
  });
}
