import { pagesOf } from '../store/store.js';
import type { AdminContext } from './context.js';
import { auditShown } from './shown.js';

const PAGE = 200;

/** The newest entries of the audit log, newest first. */
export async function listAudit({ store }: AdminContext, count: number): Promise<object[]> {
  const entries: object[] = [];
  const read = (cursor: string | null) => store.auditLog({ limit: Math.min(PAGE, count - entries.length), cursor });
  for await (const rows of pagesOf(read)) if (entries.push(...rows.map(auditShown)) >= count) break;
  return entries;
}
