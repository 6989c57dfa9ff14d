import type { z } from 'zod';
import type { Operations } from '../openapi/operation.js';
import type { RestOptions } from '../rest-context.js';
import { health } from './schema.js';

/** The only path that needs no key. */
export const HEALTH_PATH = '/v1/stream/health';

/** The health of the streams: always 200, even if the health is bad. */
export const healthOperations: Operations = {
  'GET /v1/stream/health': {
    operationId: 'getHealth',
    tag: 'health',
    summary: 'Whether ingest and subscribe are healthy; needs no key',
    description: 'Answers 200 also when a part does not work; `ok` says so.',
    isOpen: true,
    answer: { description: 'The health, whether or not the gateway is healthy.', schema: health },
    async handle(ctx, options) {
      ctx.set('Cache-Control', 'no-store');
      ctx.body = await healthOf(options);
    },
  },
};

async function healthOf(options: RestOptions): Promise<z.input<typeof health>> {
  try {
    const { ok, ingest, subscribe, reason } = await options.health();
    return { ok, ingest, subscribe, ...(reason !== undefined && { reason }) };
  } catch (err) {
    options.log.error({ err }, 'the health check failed');
    return { ok: false, ingest: false, subscribe: false, reason: 'the health check itself failed' };
  }
}
