import type Router from '@koa/router';
import { auditShown } from '../admin/shown.js';
import { readQuery } from '../rest/query.js';
import { type DashboardOptions, type DashboardState, signedInOf } from './dashboard-context.js';
import { pageQuery } from './schemas.js';

/** Routes of the audit log. */
export function auditRoutes(router: Router<DashboardState>, { store }: DashboardOptions): void {
  router.get('/dashboard/api/audit', async (ctx) => {
    signedInOf(ctx);
    const { limit, cursor = null } = readQuery(ctx, pageQuery);
    const { rows, next } = await store.auditLog({ limit, cursor });
    ctx.body = { rows: rows.map(auditShown), next };
  });
}
