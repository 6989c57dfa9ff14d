import type { Clock } from '../clock.js';
import type { Store } from '../store/store.js';

/** What the operator's commands work on. */
export interface Workplace {
  readonly store: Store;
  /** All that there are. */
  readonly algorithms: readonly { readonly slug: string }[];
  readonly clock: Clock;
}
