import type { Page, PageQuery } from './page.js';

/** The action of an entry that is a sign-in. */
export const SIGNED_IN = 'signed in';

/** The action of an entry that is a failed sign-in. */
export const SIGN_IN_REFUSED = 'sign-in refused';

/** The audit log. */
export interface AuditStore {
  /**
   * Adds an entry to the audit log, which keeps the newest of each kind, so that many sign-ins push out no change: `keep`
   * of them, by default as many as `kindOf` says.
   */
  audit(entry: AuditEntry, keep?: number): Promise<void>;
  /** Newest first; a page starts after the cursor. */
  auditLog(query: PageQuery): Promise<Page<AuditEntry>>;
  /** The sign-ins that the log keeps, the oldest first. */
  signIns(): Promise<AuditEntry[]>;
}

/** An entry of the audit log: an operation of an operator. */
export interface AuditEntry {
  readonly at: number;
  /** Name of the operator, or of the program. */
  readonly actor: string;
  /** The operation, such as `key issued`. */
  readonly action: string;
  readonly accountId: string | null;
  /** The object of the operation, in words that people recognize. */
  readonly subject: string;
}

/** The kind of an entry, and the number of entries of the kind that the log keeps. */
export function kindOf({ action }: AuditEntry): { readonly kind: string; readonly kept: number } {
  if (action === SIGNED_IN) return { kind: 'sign-in', kept: 1000 };
  if (action === SIGN_IN_REFUSED) return { kind: 'refused', kept: 1000 };
  return { kind: 'change', kept: 100_000 };
}
