import type { AccountRow, Me } from '../../src/dashboard/schemas.js';

/** What every page of an account is given. */
export interface AccountPage {
  readonly account: AccountRow;
  readonly me: Me;
}
