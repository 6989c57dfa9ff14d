import type { Operations } from '../openapi/operation.js';
import { keyOf, unauthenticated } from '../rest-context.js';
import { algorithm } from './schema.js';

/** The algorithms that the account is entitled to run. */
export const algorithmOperations: Operations = {
  'GET /v1/algos': {
    operationId: 'listAlgorithms',
    tag: 'algos',
    summary: 'List the algorithms that the account is entitled to run',
    description:
      'The algorithms that analyse the data of the account. An account without a restriction has all algorithms.',
    answer: { description: 'The algorithms.', list: algorithm },
    async handle(ctx, { store, algorithms }) {
      const account = await store.account(keyOf(ctx).accountId);
      if (!account) throw unauthenticated('the account of this API key no longer exists');
      const entitled = algorithms.filter(({ slug }) => account.algorithms?.includes(slug) ?? true);
      ctx.body = entitled.map(({ id, name, slug, description }) => ({ id, name, slug, description }));
    },
  },
};
