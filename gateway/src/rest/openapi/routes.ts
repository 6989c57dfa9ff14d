import { readFileSync } from 'node:fs';
import type Router from '@koa/router';
import { z } from 'zod';
import { keyOf, type RestState } from '../rest-context.js';
import type { Operations } from './operation.js';

export const OPENAPI_PATH = '/openapi.json';
/** The generated document, beside the package's manifest. */
export const OPENAPI_FILE = new URL('../../../openapi.json', import.meta.url);

/** Any JSON object. */
const openapi = z.looseObject({});

export const openapiOperations: Operations = {
  'GET /openapi.json': {
    operationId: 'getOpenApi',
    tag: 'schema',
    summary: 'This document',
    description: 'The same document as in the repository, for tools that make clients.',
    answer: { description: 'The OpenAPI document.', schema: openapi },
  },
};

/** The machine-readable schema of the REST API. */
export function openapiRoutes(router: Router<RestState>): void {
  const text = readFileSync(OPENAPI_FILE, 'utf8');

  router.get(OPENAPI_PATH, (ctx) => {
    keyOf(ctx);
    ctx.type = 'json';
    ctx.body = text;
  });
}
