import type Router from '@koa/router';
import type { z } from 'zod';
import type { RestOptions, RestState } from '../rest-context.js';
import type { health } from './schema.js';

/** The only path that needs no key. */
export const HEALTH_PATH = '/v1/stream/health';

/** The health of the streams: always 200, even if the health is bad. */
export function healthRoutes(router: Router<RestState>, options: RestOptions): void {
  /**
   * @openapi
   * /v1/stream/health:
   *   get:
   *     operationId: getHealth
   *     tags: [health]
   *     summary: Whether ingest and subscribe are healthy; needs no key
   *     description: >-
   *       Answers 200 also when a part does not work; `ok` says so.
   *     security: []
   *     responses:
   *       '200':
   *         description: The health, good or bad.
   *         content:
   *           application/json:
   *             schema: { $ref: '#/components/schemas/Health' }
   *       '400': { $ref: '#/components/responses/Malformed' }
   */
  router.get(HEALTH_PATH, async (ctx) => {
    ctx.set('Cache-Control', 'no-store');
    ctx.body = await healthOf(options);
  });
}

async function healthOf(options: RestOptions): Promise<z.input<typeof health>> {
  try {
    const { ok, ingest, subscribe, reason } = await options.health();
    return { ok, ingest, subscribe, ...(reason !== undefined && { reason }) };
  } catch (err) {
    options.log.error({ err }, 'the health check failed');
    return { ok: false, ingest: false, subscribe: false, reason: 'the health check itself failed' };
  }
}
