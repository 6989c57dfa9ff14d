import type Router from '@koa/router';
import { answerArray } from '../json-array.js';
import { pathId, permittedSession } from '../permission.js';
import { linkPage, readQuery } from '../query.js';
import { keyOf, type RestContext, type RestOptions, type RestState } from '../rest-context.js';
import { diagnosticsAnswer, sessionAnswer, sessionQuery } from './schema.js';
import { summaryRows } from './summary.js';

/** Sessions and the insights of one. A per-user key sees only that user's sessions. */
export function sessionRoutes(router: Router<RestState>, { store, algorithms }: RestOptions): void {
  /**
   * @openapi
   * /v1/sessions:
   *   get:
   *     operationId: listSessions
   *     tags: [sessions]
   *     summary: Recent sessions, newest first
   *     description: >-
   *       Sessions of the account, or of the key's user. Each page has at most `limit` sessions; follow the Link header.
   *     parameters:
   *       - $ref: '#/components/parameters/SessionsLimit'
   *       - $ref: '#/components/parameters/SessionsStatus'
   *       - $ref: '#/components/parameters/SessionsDeviceId'
   *       - $ref: '#/components/parameters/SessionsDataSince'
   *       - $ref: '#/components/parameters/SessionsDataUntil'
   *       - $ref: '#/components/parameters/SessionsCursor'
   *     responses:
   *       '200':
   *         description: The sessions. A Link header with rel="next" leads to older sessions.
   *         headers:
   *           Link: { $ref: '#/components/headers/Link' }
   *         content:
   *           application/json:
   *             schema:
   *               type: array
   *               items: { $ref: '#/components/schemas/Session' }
   *       '400': { $ref: '#/components/responses/ValidationFailed' }
   *       '401': { $ref: '#/components/responses/Unauthenticated' }
   *       '500': { $ref: '#/components/responses/ServerError' }
   */
  router.get('/v1/sessions', async (ctx) => {
    const { accountId, user } = keyOf(ctx);
    const { limit, status = null, device_id: deviceId = null, cursor = null, ...span } = readQuery(ctx, sessionQuery);
    const { data_since: dataSince = null, data_until: dataUntil = null } = span;
    const page = await store.sessions({ accountId, user, limit, status, deviceId, dataSince, dataUntil, cursor });
    if (page.next !== null) linkPage(ctx, sessionQuery, page.next, 'next');
    ctx.body = page.rows.map(sessionAnswer);
  });

  /**
   * @openapi
   * /v1/sessions/{id}:
   *   get:
   *     operationId: getSession
   *     tags: [sessions]
   *     summary: One session
   *     description: >-
   *       One session, open or closed, with the problems of its data.
   *     parameters:
   *       - $ref: '#/components/parameters/Id'
   *     responses:
   *       '200':
   *         description: The session.
   *         content:
   *           application/json:
   *             schema: { $ref: '#/components/schemas/Session' }
   *       '401': { $ref: '#/components/responses/Unauthenticated' }
   *       '403': { $ref: '#/components/responses/Forbidden' }
   *       '404': { $ref: '#/components/responses/NotFound' }
   *       '500': { $ref: '#/components/responses/ServerError' }
   */
  router.get('/v1/sessions/:id', async (ctx) => {
    const row = permittedSession(keyOf(ctx), await store.session(idOf(ctx)));
    const diagnostics = await store.diagnostics(row.id);
    ctx.body = { ...sessionAnswer(row), ...(diagnostics && { diagnostics: diagnosticsAnswer(diagnostics) }) };
  });

  /**
   * @openapi
   * /v1/sessions/{id}/insights:
   *   get:
   *     operationId: listSessionInsights
   *     tags: [sessions]
   *     summary: All insights of a session, in chronological order (actual_end, then ts)
   *     description: >-
   *       Complete, without pages. The array is streamed, so that a long session needs no more memory than a short one.
   *     parameters:
   *       - $ref: '#/components/parameters/Id'
   *     responses:
   *       '200':
   *         description: The insights, streamed.
   *         content:
   *           application/json:
   *             schema:
   *               type: array
   *               items: { $ref: '#/components/schemas/Insight' }
   *       '401': { $ref: '#/components/responses/Unauthenticated' }
   *       '403': { $ref: '#/components/responses/Forbidden' }
   *       '404': { $ref: '#/components/responses/NotFound' }
   *       '500': { $ref: '#/components/responses/ServerError' }
   */
  router.get('/v1/sessions/:id/insights', async (ctx) => {
    const { id } = permittedSession(keyOf(ctx), await store.session(idOf(ctx)));
    await answerArray(ctx, store.sessionInsights(id), (insight) => insight);
  });

  /**
   * @openapi
   * /v1/sessions/{id}/summary:
   *   get:
   *     operationId: getSessionSummary
   *     tags: [sessions]
   *     summary: What the insights of a session come to
   *     description: >-
   *       Mean, minimum and maximum of the readings that are not `unfit`, and the time with readings of each class: an entry for each type that
   *       has insights.
   *     parameters:
   *       - $ref: '#/components/parameters/Id'
   *     responses:
   *       '200':
   *         description: The summary.
   *         content:
   *           application/json:
   *             schema:
   *               type: array
   *               items: { $ref: '#/components/schemas/Summary' }
   *       '401': { $ref: '#/components/responses/Unauthenticated' }
   *       '403': { $ref: '#/components/responses/Forbidden' }
   *       '404': { $ref: '#/components/responses/NotFound' }
   *       '500': { $ref: '#/components/responses/ServerError' }
   */
  router.get('/v1/sessions/:id/summary', async (ctx) => {
    const { id } = permittedSession(keyOf(ctx), await store.session(idOf(ctx)));
    ctx.body = summaryRows(await store.sessionSummary(id), algorithms);
  });
}

function idOf(ctx: RestContext): string {
  return pathId(ctx.params.id, 'session');
}
