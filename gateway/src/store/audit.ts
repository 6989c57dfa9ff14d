import type { Page } from './page.js';

/** The action of an entry that is a sign-in; all others are changes. */
export const SIGNED_IN = 'signed in';

/** The action of an entry that is a failed sign-in. */
export const SIGN_IN_REFUSED = 'sign-in refused';

/** Numbers of changes and of sign-ins that the audit log keeps. */
export const AUDIT_KEPT = 100_000;

/** Of the sign-ins, and of the failed ones. */
export const SIGN_INS_KEPT = 1000;

/** The audit log. */
export interface AuditStore {
  /**
   * Adds an entry to the audit log, which keeps the newest `keep` sign-ins (default `SIGN_INS_KEPT`), and of the other
   * entries the newest `keep` (default `AUDIT_KEPT`), so that many sign-ins push out no change. Among these are at most the newest
   * `SIGN_INS_KEPT` failed sign-ins.
   */
  audit(entry: AuditEntry, keep?: number): Promise<void>;
  /** Newest first; a page starts after the cursor. */
  auditLog(query: AuditQuery): Promise<Page<AuditEntry>>;
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

interface AuditQuery {
  readonly limit: number;
  readonly cursor: string | null;
}
