import type { AccountRow, Me } from '../../src/dashboard/rows.js';

/** Properties of every page of an account. */
export interface AccountPage {
  readonly account: AccountRow;
  readonly me: Me;
}

/** Properties of the page of one of its devices or sessions. */
export type DetailPage = AccountPage & { readonly id: string };
