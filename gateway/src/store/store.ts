import type { AccountStore } from './accounts.js';
import type { AuditStore } from './audit.js';
import type { DeviceModelStore } from './device-models.js';
import type { DeviceStore } from './devices.js';
import type { ErasureStore } from './erasure.js';
import type { GatewayStore } from './gateways.js';
import type { IdempotencyStore } from './idempotency.js';
import type { InsightStore } from './insights.js';
import type { KeyStore } from './keys.js';
import type { OperatorStore } from './operators.js';
import type { SessionStore } from './sessions.js';

export * from './accounts.js';
export * from './audit.js';
export * from './device-models.js';
export * from './devices.js';
export * from './erasure.js';
export * from './gateways.js';
export {
  IDEMPOTENCY_KEPT_MS,
  IDEMPOTENCY_PENDING_MS,
  type IdempotencyClaim,
  type IdempotencyState,
  type IdempotencyStore,
  type SavedResponse,
} from './idempotency.js';
export * from './insights.js';
export * from './keys.js';
export * from './operators.js';
export * from './page.js';
export * from './sessions.js';

/**
 * The store: all data that must outlive a process. Two implementations (embedded SQLite, MongoDB) run one conformance
 * suite (`suite.ts`). Times are ms since the epoch; ids are lower-case UUIDs created by the caller unless stated
 * otherwise. If the store cannot serve a call now (down, busy, damaged), the call rejects with `StoreUnavailable`:
 * nothing of it is done, or, if only the answer was lost, all of it. If the store refuses a call for its contents, it
 * rejects with `StoreRefused`. Any other error is a fault of the program, and not a reason to give up the data.
 */
export interface Store
  extends AccountStore,
    KeyStore,
    OperatorStore,
    AuditStore,
    DeviceModelStore,
    DeviceStore,
    SessionStore,
    GatewayStore,
    InsightStore,
    ErasureStore,
    IdempotencyStore {
  /** Writes and reads back; rejects if the store does not work. */
  probe(at: number): Promise<void>;
  close(): Promise<void>;
}

/** The calls that return pages, each of which is read when it is asked for. */
export const PAGES: readonly string[] = ['deviceModels', 'sessionInsights', 'sessionBeats'] satisfies (keyof Store)[];

/** The store does not answer now; the call should be retried. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

/** The store refuses a call for its contents, and would refuse it again. */
export class StoreRefused extends Error {
  override readonly name = 'StoreRefused';
}
