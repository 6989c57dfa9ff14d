import { VERSION } from '@device-insights/fanout/platform/version';
import type Router from '@koa/router';
import { isoTime } from '../instant.js';
import { type DashboardOptions, type DashboardState, signedInOf } from './dashboard-context.js';
import { algorithmRow, type Node } from './rows.js';

/** Routes of health with its cause, the load of this gateway, and the versions in use. */
export function nodeRoutes(router: Router<DashboardState>, options: DashboardOptions): void {
  const { store, algorithms, health, load, gateway } = options;

  router.get('/dashboard/api/node', async (ctx) => {
    signedInOf(ctx);
    const [{ ok, ingest, subscribe, reason, cause }, now, beats] = await Promise.all([
      health(),
      load(),
      beatsOf(store),
    ]);
    ctx.body = {
      ok,
      ingest,
      subscribe,
      reason: reason ?? null,
      cause: cause ?? null,
      gateway,
      load: now,
      gateways: [...beats].map(([id, beat]) => ({ id, beat: isoTime(beat) })),
      versions: { service: VERSION, node: process.version },
      algorithms: algorithms.map(algorithmRow),
    } satisfies Node;
  });
}

/** The heartbeats; none if the store does not answer, so that the other data are still shown. */
async function beatsOf(store: DashboardOptions['store']): Promise<ReadonlyMap<string, number>> {
  return store.beats().catch(() => new Map<string, number>());
}
