import type { Clock } from '@device-insights/fanout/platform/clock';
import type { Store } from '../store/store.js';

/** The objects that the operator's commands use. */
export interface AdminContext {
  readonly store: Store;
  /** All algorithms of the service. */
  readonly algorithms: readonly { readonly slug: string }[];
  readonly clock: Clock;
  /** Name of the person in the audit log. */
  readonly actor: string;
}

/** Records an operation in the audit log. */
export function note(
  { store, clock, actor }: AdminContext,
  action: string,
  accountId: string | null,
  subject: string,
): Promise<void> {
  return store.audit({ at: clock.now(), actor, action, accountId, subject });
}
