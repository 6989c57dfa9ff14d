import { isoTime, isoTimeOrNull } from '../instant.js';
import type { AuditEntry, Key } from '../store/store.js';

/** A key as operators see it, without its hash. */
export function keyShown(key: Key) {
  return {
    id: key.id,
    account_id: key.accountId,
    user: key.user,
    prefix: key.prefix,
    last_four: key.lastFour,
    label: key.label,
    permissions: key.permissions,
    created_at: isoTime(key.createdAt),
    last_used_at: isoTimeOrNull(key.lastUsedAt),
    revoked_at: isoTimeOrNull(key.revokedAt),
    expires_at: isoTimeOrNull(key.expiresAt),
    ...(key.replacedBy !== null && { replaced_by: key.replacedBy }),
  };
}

/** An entry of the audit log as operators see it. */
export function auditShown({ at, actor, action, accountId, subject }: AuditEntry) {
  return { at: isoTime(at), actor, action, account_id: accountId, subject };
}
