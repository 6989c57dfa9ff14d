import type { UserRow } from '../../../src/dashboard/rows.js';
import type { AccountPage } from '../account-page.js';
import { usePages } from '../pages.js';
import { Link } from '../router.js';
import { Empty, Page, Rows, When } from '../ui.js';

/** The users of an account, collected from its keys. */
export function Users({ account }: AccountPage) {
  const list = usePages<UserRow>(`/accounts/${account.id}/users`);
  const empty = (
    <Empty title="No user yet">
      <Link to={`/a/${account.id}/keys`}>Issue a key</Link> for a user, and the user appears here.
    </Empty>
  );
  return (
    <Page
      title="Users"
      lead="A key can be bound to a user. It then sees only the sessions that this user's keys opened."
    >
      <Rows
        list={list}
        empty={empty}
        more="More users"
        label="Users"
        id={({ user }) => user}
        columns={[
          {
            name: 'User',
            cell: ({ user }) => <Link to={`/a/${account.id}/keys?user=${encodeURIComponent(user)}`}>{user}</Link>,
          },
          { name: 'Keys', kind: 'number', cell: ({ keys }) => keys },
          { name: 'Last used', cell: ({ last_used_at }) => <When at={last_used_at} none="never" /> },
        ]}
      />
    </Page>
  );
}
