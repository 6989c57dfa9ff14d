import type { AccountRow, AuditRow } from '../../../src/dashboard/rows.js';
import { date } from '../format.js';
import { usePages } from '../pages.js';
import { Empty, NONE, Page, Rows } from '../ui.js';

const REFRESH_MS = 5000;

/** The audit log. */
export function Audit({ accounts }: { readonly accounts: readonly AccountRow[] }) {
  const list = usePages<AuditRow>('/audit', REFRESH_MS);
  const named = (id: string | null) => accounts.find((account) => account.id === id)?.name ?? id;
  const empty = <Empty title="Nothing yet">The next sign-in and the next change appear here.</Empty>;
  return (
    <Page
      title="Audit log"
      lead="Sign-ins, also failed ones, and changes by operators and by the admin command. The newest 100,000 changes, 1,000 sign-ins and 1,000 failed ones are kept."
    >
      <Rows
        list={list}
        empty={empty}
        more="Earlier entries"
        label="Audit log"
        id={({ at }, i) => `${at} ${i}`}
        columns={[
          { name: 'Time', cell: ({ at }) => <time dateTime={at}>{date(at)}</time> },
          { name: 'Operator', cell: ({ actor }) => actor },
          { name: 'Action', cell: ({ action }) => action },
          { name: 'Account', cell: ({ account_id }) => named(account_id) ?? NONE },
          { name: 'Object', kind: 'why', cell: ({ subject }) => subject },
        ]}
      />
    </Page>
  );
}
