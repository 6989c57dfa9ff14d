import { VERSION } from '@device-insights/fanout/platform/version';
import type Router from '@koa/router';
import { isoTime } from '../instant.js';
import { type DashboardOptions, type DashboardState, signedInOf } from './dashboard-context.js';
import { algorithmRow } from './rows.js';

/** Routes of health with its cause, the load of this gateway, and the versions in use. */
export function nodeRoutes(router: Router<DashboardState>, options: DashboardOptions): void {
  router.get('/dashboard/api/node', async (ctx) => {
    signedInOf(ctx);
    ctx.body = await nodeOf(options);
  });
}

export type Node = Awaited<ReturnType<typeof nodeOf>>;

async function nodeOf({ store, algorithms, health, load, gateway }: DashboardOptions) {
  // No heartbeats if the store does not answer: the other data are still shown.
  const beats = store.beats().catch(() => new Map<string, number>());
  const [{ ok, ingest, subscribe, reason = null, cause = null }, now] = await Promise.all([health(), load()]);
  return {
    ...{ ok, ingest, subscribe, reason, cause, gateway },
    load: now,
    gateways: [...(await beats)].map(([id, beat]) => ({ id, beat: isoTime(beat) })),
    versions: { service: VERSION, node: process.version },
    algorithms: algorithms.map(algorithmRow),
  };
}
