import type Router from '@koa/router';
import { z } from 'zod';
import { keyOf, type RestOptions, type RestState, unauthenticated } from './rest-context.js';

export const algorithm = z
  .object({ id: z.uuid(), name: z.string(), slug: z.string(), description: z.string() })
  .meta({ description: 'An algorithm that the account is entitled to.' });

/** The algorithms that the account is entitled to run. */
export function algorithmRoutes(router: Router<RestState>, { store, algorithms }: RestOptions): void {
  /**
   * @openapi
   * /v1/algos:
   *   get:
   *     operationId: listAlgorithms
   *     tags: [algos]
   *     summary: The algorithms that the account is entitled to run
   *     responses:
   *       '200':
   *         description: The algorithms.
   *         content:
   *           application/json:
   *             schema:
   *               type: array
   *               items: { $ref: '#/components/schemas/Algorithm' }
   *       '401': { $ref: '#/components/responses/Unauthenticated' }
   *       '500': { $ref: '#/components/responses/ServerError' }
   */
  router.get('/v1/algos', async (ctx) => {
    const account = await store.account(keyOf(ctx).accountId);
    if (!account) throw unauthenticated('the account of this API key does not exist any more');
    const entitled = algorithms.filter(({ slug }) => account.algorithms?.includes(slug) ?? true);
    ctx.body = entitled.map(({ id, name, slug, description }) => ({ id, name, slug, description }));
  });
}
