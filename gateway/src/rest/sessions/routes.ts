import { insight } from '@device-insights/contract/insight';
import { BEAT_CSV } from '../../csv.js';
import type { Session } from '../../store/store.js';
import { answerBundle, prefersFhir } from '../fhir.js';
import { answerArray, answerCsv } from '../json-array.js';
import type { Operations } from '../openapi/operation.js';
import { pathId, permittedSession } from '../permission.js';
import { linkPage, readQuery } from '../query.js';
import { keyOf, type RestContext, type RestOptions } from '../rest-context.js';
import { beat, diagnosticsAnswer, session, sessionAnswer, sessionQuery, summary } from './schema.js';
import { summaryRows } from './summary.js';

/** Sessions and the insights of one. */
export const sessionOperations: Operations = {
  'GET /v1/sessions': {
    operationId: 'listSessions',
    tag: 'sessions',
    summary: 'Recent sessions, newest first',
    description:
      "Sessions of the account, or of the key's user. Each page has at most `limit` sessions; follow the Link header.",
    query: sessionQuery,
    answer: { description: 'The sessions. A Link header with rel="next" leads to older sessions.', list: session },
    async handle(ctx, { store }) {
      const { accountId, user } = keyOf(ctx);
      const { limit, status = null, device_id: deviceId = null, cursor = null, ...span } = readQuery(ctx, sessionQuery);
      const { data_since: dataSince = null, data_until: dataUntil = null } = span;
      const page = await store.sessions({ accountId, user, limit, status, deviceId, dataSince, dataUntil, cursor });
      if (page.next !== null) linkPage(ctx, sessionQuery, page.next, 'next');
      ctx.body = page.rows.map(sessionAnswer);
    },
  },
  'GET /v1/sessions/{id}': {
    operationId: 'getSession',
    tag: 'sessions',
    summary: 'One session',
    description: 'One session, open or closed, with the problems of its data.',
    answer: { description: 'The session.', schema: session },
    async handle(ctx, options) {
      const row = await sessionOf(ctx, options);
      const diagnostics = await options.store.diagnostics(row.id);
      ctx.body = { ...sessionAnswer(row), ...(diagnostics && { diagnostics: diagnosticsAnswer(diagnostics) }) };
    },
  },
  'GET /v1/sessions/{id}/insights': {
    operationId: 'listSessionInsights',
    tag: 'sessions',
    summary: 'All insights of a session, in chronological order (actual_end, then ts)',
    description:
      'Complete, without pages or filters: `type`, `limit` and times of GET /v1/insights are ignored here. The array is streamed, so that a long session needs no more memory than a short one. With `Accept: application/fhir+json` it is a Bundle of FHIR R4 Observations.',
    answer: { description: 'The insights, streamed.', list: insight, fhir: true },
    async handle(ctx, options) {
      const { id, user } = await sessionOf(ctx, options);
      const insights = options.store.sessionInsights(id);
      if (prefersFhir(ctx)) await answerBundle(ctx, insights, { users: new Map([[id, user]]), self: ctx.path });
      else await answerArray(ctx, insights, (each) => each);
    },
  },
  'GET /v1/sessions/{id}/beats': {
    operationId: 'listSessionBeats',
    tag: 'sessions',
    summary: 'All beats of a session, in chronological order',
    description:
      'Complete, without pages or filters, and streamed. Beats are stored in blocks of 10 s, 10 to 20 s after they were measured, and at the end of the session. With `Accept: text/csv` it is CSV with the columns t, source and quality.',
    answer: { description: 'The beats, streamed.', list: beat, csv: true },
    async handle(ctx, options) {
      const { id } = await sessionOf(ctx, options);
      const beats = options.store.sessionBeats(id);
      ctx.vary('Accept');
      if (ctx.accepts('application/json', 'text/csv') === 'text/csv') await answerCsv(ctx, beats, BEAT_CSV);
      else await answerArray(ctx, beats, (each) => each);
    },
  },
  'GET /v1/sessions/{id}/summary': {
    operationId: 'getSessionSummary',
    tag: 'sessions',
    summary: 'Summary of the insights of a session',
    description:
      'Mean, minimum and maximum of the readings that are not `unfit`, and the time with readings of each class: an entry for each type that has insights.',
    answer: { description: 'The summary.', list: summary },
    async handle(ctx, options) {
      const { id } = await sessionOf(ctx, options);
      ctx.body = summaryRows(await options.store.sessionSummary(id), options.algorithms);
    },
  },
};

/** The session in the path. A per-user key sees only that user's sessions. */
async function sessionOf(ctx: RestContext, { store }: RestOptions): Promise<Session> {
  return permittedSession(keyOf(ctx), await store.session(pathId(ctx.params.id, 'session')));
}
