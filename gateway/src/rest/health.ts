import type Router from '@koa/router';
import { z } from 'zod';
import type { RestOptions, RestState } from './rest-context.js';

/** The one path that needs no key. */
export const HEALTH_PATH = '/v1/stream/health';

export const health = z
  .object({
    ok: z.boolean().meta({ description: 'True when ingest and subscribe are healthy.' }),
    ingest: z.boolean(),
    subscribe: z.boolean(),
    reason: z.string().optional().meta({ description: 'What is wrong, where something is.' }),
  })
  .meta({ description: 'Whether the streams work.', examples: [{ ok: true, ingest: true, subscribe: true }] });

/** The health of the streams: always 200, also when it is bad. */
export function healthRoutes(router: Router<RestState>, options: RestOptions): void {
  /**
   * @openapi
   * /v1/stream/health:
   *   get:
   *     operationId: getHealth
   *     tags: [health]
   *     summary: Whether ingest and subscribe are healthy; needs no key
   *     security: []
   *     responses:
   *       '200':
   *         description: The health, good or bad.
   *         content:
   *           application/json:
   *             schema: { $ref: '#/components/schemas/Health' }
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
