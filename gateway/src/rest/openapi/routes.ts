import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { keyOf } from '../rest-context.js';
import type { Operations } from './operation.js';

export const OPENAPI_PATH = '/openapi.json';
/** The generated document, beside the package's manifest. */
export const OPENAPI_FILE = new URL('../../../openapi.json', import.meta.url);

let text: string | undefined;

/** Any JSON object. */
const openapi = z.looseObject({});

/** The machine-readable schema of the REST API. */
export const openapiOperations: Operations = {
  'GET /openapi.json': {
    operationId: 'getOpenApi',
    tag: 'schema',
    summary: 'This document',
    description: 'The same document as in the repository, for tools that make clients.',
    answer: { description: 'The OpenAPI document.', schema: openapi },
    handle(ctx) {
      keyOf(ctx);
      ctx.type = 'json';
      text ??= readFileSync(OPENAPI_FILE, 'utf8');
      ctx.body = text;
    },
  },
};
