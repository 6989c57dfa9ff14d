import type { AccountRow, Me } from '../../src/dashboard/rows.js';

/** Properties of every page of an account. */
export interface AccountPage {
  readonly account: AccountRow;
  readonly me: Me;
}
