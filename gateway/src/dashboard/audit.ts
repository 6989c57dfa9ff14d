import type Router from '@koa/router';
import { isoTime } from '../instant.js';
import { readQuery } from '../rest/query.js';
import type { AuditEntry } from '../store/store.js';
import { type DashboardOptions, type DashboardState, signedInOf } from './dashboard-context.js';
import { type AuditRow, type Listed, pageQuery } from './schemas.js';

/** Routes of the audit log. */
export function auditRoutes(router: Router<DashboardState>, { store }: DashboardOptions): void {
  router.get('/dashboard/api/audit', async (ctx) => {
    signedInOf(ctx);
    const { limit, cursor } = readQuery(ctx, pageQuery);
    const { rows, next } = await store.auditLog({ limit, cursor: cursor ?? null });
    ctx.body = { rows: rows.map(auditRow), next } satisfies Listed<AuditRow>;
  });
}

function auditRow({ at, actor, action, accountId, subject }: AuditEntry): AuditRow {
  return { at: isoTime(at), actor, action, account_id: accountId, subject };
}
