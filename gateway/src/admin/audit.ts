import type { AdminContext } from './context.js';
import { auditShown } from './shown.js';

const PAGE = 200;

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
