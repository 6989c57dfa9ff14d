import type Router from '@koa/router';
import { keyOf, type RestOptions, type RestState, unauthenticated } from '../rest-context.js';

/** The algorithms that the account is entitled to run. */
export function algorithmRoutes(router: Router<RestState>, { store, algorithms }: RestOptions): void {
  /**
   * @openapi
   * /v1/algos:
   *   get:
   *     operationId: listAlgorithms
   *     tags: [algos]
   *     summary: List the algorithms that the account is entitled to run
   *     description: >-
   *       The algorithms that analyse the data of the account. An account without a restriction has all algorithms.
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
    if (!account) throw unauthenticated('the account of this API key no longer exists');
    const entitled = algorithms.filter(({ slug }) => account.algorithms?.includes(slug) ?? true);
    ctx.body = entitled.map(({ id, name, slug, description }) => ({ id, name, slug, description }));
  });
}
