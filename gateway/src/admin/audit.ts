import { isoTime } from '../instant.js';
import type { AuditEntry } from '../store/store.js';
import type { AdminContext } from './context.js';

const PAGE = 200;

/** An entry of the audit log as people see it. */
export function auditShown({ at, actor, action, accountId, subject }: AuditEntry) {
  return { at: isoTime(at), actor, action, account_id: accountId, subject };
}

/** The newest entries of the audit log, newest first. */
export async function listAudit({ store }: AdminContext, count: number): Promise<object[]> {
  const entries: object[] = [];
  let cursor: string | null = null;
  do {
    const page = await store.auditLog({ limit: Math.min(PAGE, count - entries.length), cursor });
    entries.push(...page.rows.map(auditShown));
    cursor = page.next;
  } while (cursor !== null && entries.length < count);
  return entries;
}
