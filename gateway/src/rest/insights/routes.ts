import { insight } from '@device-insights/contract/insight';
import { Queue } from '../../queue.js';
import { orderOf } from '../../store/insight-order.js';
import { answerBundle, prefersFhir, usersOf } from '../fhir.js';
import type { Operations } from '../openapi/operation.js';
import { linkPage, pageAddress, readQuery } from '../query.js';
import { clientLeft, keyOf } from '../rest-context.js';
import { insightQuery } from './schema.js';

/** Searches of an account that run at once; the others wait. Each may read all that the account has stored. */
const SEARCHES = 4;
const searches = new Queue({ each: () => SEARCHES });

/** Stored insights across sessions. */
export const insightOperations: Operations = {
  'GET /v1/insights': {
    operationId: 'listInsights',
    tag: 'insights',
    summary: 'Stored insights across all sessions, in order of ts',
    description:
      'With since: the first `limit` insights from there on, and a Link header with rel="next" to later ones. Without it: the last `limit` before until (or now), and rel="prev" to earlier ones. With data_since or data_until the order is by actual_end, then ts, and data_since takes the place of since. With `Accept: application/fhir+json` the answer is a Bundle of FHIR R4 Observations, whose link next leads to the same page as the Link header.',
    query: insightQuery,
    answer: { description: 'The insights, oldest first.', list: insight, fhir: true },
    async handle(ctx, { store }) {
      const { accountId, user } = keyOf(ctx);
      const asked = readQuery(ctx, insightQuery);
      const { type = null, device_id: deviceId = null, since = null, until = null, limit, cursor = null } = asked;
      const { data_since: dataSince = null, data_until: dataUntil = null } = asked;
      const query = { accountId, user, type, deviceId, since, until, dataSince, dataUntil, limit, cursor };
      const left = clientLeft(ctx);
      const page = await searches.run(accountId, () => store.insights(query, left), left);
      if (page.next !== null) linkPage(ctx, insightQuery, page.next, orderOf(query).forward ? 'next' : 'prev');
      if (prefersFhir(ctx)) {
        const self = pageAddress(ctx, insightQuery, cursor);
        const next = page.next && pageAddress(ctx, insightQuery, page.next);
        await answerBundle(ctx, [page.rows], { users: await usersOf(store, page.rows), self, next });
      } else ctx.body = page.rows;
    },
  },
};
