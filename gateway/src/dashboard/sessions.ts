import type Router from '@koa/router';
import { BEAT_CSV, INSIGHT_CSV } from '../csv.js';
import { HttpError } from '../errors.js';
import { Queue } from '../queue.js';
import { answerCsv } from '../rest/json-array.js';
import { pathId } from '../rest/permission.js';
import { readQuery } from '../rest/query.js';
import { clientLeft } from '../rest/rest-context.js';
import type { SummaryRow } from '../rest/sessions/schema.js';
import { summaryCsv, summaryRows } from '../rest/sessions/summary.js';
import type { Session, SessionStore } from '../store/store.js';
import { accountOf } from './accounts.js';
import { type DashboardContext, type DashboardOptions, type DashboardState, signedInOf } from './dashboard-context.js';
import { type Kept, type Live, sessionRow } from './rows.js';
import { liveQuery, seriesQuery, sessionQuery } from './schemas.js';
import { seriesOf } from './series.js';
import { tachogramsOf } from './tachogram.js';

/** Series of charts that are made at once, one for each operator: that of a session of two days takes 300 MB. */
const SERIES = 2;
const series = new Queue({ atOnce: SERIES, each: () => 1 });

/** Routes of sessions: lists, and the charts of one session. */
export function sessionRoutes(router: Router<DashboardState>, { store, inspect, algorithms }: DashboardOptions): void {
  router.get('/dashboard/api/accounts/:account/sessions', async (ctx) => {
    const { id: accountId } = await accountOf(ctx, store);
    const { limit, status = null, device: deviceId = null, cursor = null, ...span } = readQuery(ctx, sessionQuery);
    const { data_since: dataSince = null, data_until: dataUntil = null } = span;
    const wanted = { accountId, user: null, limit, status, deviceId, dataSince, dataUntil, cursor };
    const { rows, next } = await store.sessions(wanted);
    ctx.body = { rows: rows.map(sessionRow), next };
  });

  router.get('/dashboard/api/sessions/:session', async (ctx) => {
    ctx.body = sessionRow(await sessionOf(ctx, store));
  });

  router.get('/dashboard/api/sessions/:session/diagnostics', async (ctx) => {
    const { id } = await sessionOf(ctx, store);
    ctx.body = JSON.stringify((await store.diagnostics(id)) satisfies Kept);
    ctx.type = 'json';
  });

  router.get('/dashboard/api/sessions/:session/live', async (ctx) => {
    const session = await sessionOf(ctx, store);
    const { channel } = readQuery(ctx, liveQuery);
    const live: Live = session.status === 'open' ? await inspect(session, channel ?? null) : null;
    ctx.body = JSON.stringify(live);
    ctx.type = 'json';
  });

  const chart = (name: string, make: (id: string, from: number | undefined, to: number | null) => Promise<object>) =>
    router.get(`/dashboard/api/sessions/:session/${name}`, async (ctx) => {
      const { operator } = signedInOf(ctx);
      const { id } = await sessionOf(ctx, store);
      const { from, to = null } = readQuery(ctx, seriesQuery);
      ctx.body = await series.run(operator.id, () => make(id, from, to), clientLeft(ctx));
    });
  chart('series', (id, from, to) => seriesOf(store.sessionInsights(id, from), to));
  chart('beats', (id, from, to) => tachogramsOf(store.sessionBeats(id, from), to));

  router.get('/dashboard/api/sessions/:session/summary', async (ctx) => {
    const { id } = await sessionOf(ctx, store);
    ctx.body = summaryRows(await store.sessionSummary(id), algorithms) satisfies SummaryRow[];
  });

  router.get('/dashboard/api/sessions/:session/summary.csv', async (ctx) => {
    const session = await sessionOf(ctx, store);
    const rows = summaryRows(await store.sessionSummary(session.id), algorithms);
    ctx.type = 'text/csv';
    ctx.attachment(`summary-${session.id}.csv`);
    ctx.body = summaryCsv(session, rows);
  });

  router.get('/dashboard/api/sessions/:session/insights.csv', async (ctx) => {
    const { id } = await sessionOf(ctx, store);
    await answerCsv(ctx, store.sessionInsights(id), INSIGHT_CSV);
    ctx.attachment(`insights-${id}.csv`);
  });

  router.get('/dashboard/api/sessions/:session/beats.csv', async (ctx) => {
    const { id } = await sessionOf(ctx, store);
    await answerCsv(ctx, store.sessionBeats(id), BEAT_CSV);
    ctx.attachment(`beats-${id}.csv`);
  });
}

/** The session in the path, for who is signed in. */
async function sessionOf(ctx: DashboardContext, store: SessionStore): Promise<Session> {
  signedInOf(ctx);
  const session = await store.session(pathId(ctx.params.session, 'session'));
  if (session) return session;
  throw new HttpError('not_found', 'there is no session with this id: see the list of sessions');
}
