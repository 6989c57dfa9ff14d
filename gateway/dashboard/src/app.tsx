import type { ComponentChild, FunctionComponent } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { AccountRow, Listed, Me, SessionRow } from '../../src/dashboard/rows.js';
import type { AccountPage, DetailPage } from './account-page.js';
import { api, useLoad } from './api.js';
import { Accounts } from './pages/accounts.js';
import { Audit } from './pages/audit.js';
import { DevicePage } from './pages/device.js';
import { Devices } from './pages/devices.js';
import { Health } from './pages/health.js';
import { Keys } from './pages/keys.js';
import { SessionPage } from './pages/session.js';
import { Sessions } from './pages/sessions.js';
import { ChangePassword, SignIn } from './pages/sign-in.js';
import { Start } from './pages/start.js';
import { Users } from './pages/users.js';
import { Wall } from './pages/wall.js';
import { go, Link, replace, useAddress } from './router.js';
import { Button, Empty, Failure, Loading, Page, Select } from './ui.js';

/** Key in `localStorage` of the account that was viewed last. */
const REMEMBERED = 'account';

export function App() {
  const [me, setMe] = useState<Me | null>();
  const [error, setError] = useState<Error>();
  useEffect(() => {
    const out = () => setMe(null);
    addEventListener('signed-out', out);
    api<Me>('GET', '/me').then(setMe, (caught: Error & { status?: number }) => {
      if (caught.status !== 401) setError(caught);
    });
    return () => removeEventListener('signed-out', out);
  }, []);
  if (error) {
    return (
      <main class="alone">
        <Failure error={error} retry={() => location.reload()} />
      </main>
    );
  }
  if (me === undefined) return null;
  if (me === null) return <SignIn onSignedIn={setMe} />;
  return <Shell me={me} />;
}

/** Path and title of a page of an account, the page, and the page of one of its rows. */
type Route = readonly [string, string, FunctionComponent<AccountPage>, FunctionComponent<DetailPage>?];
const OF_ACCOUNT: readonly Route[] = [
  ['start', 'Start', Start],
  ['live', 'Live', Wall],
  ['devices', 'Devices', Devices, DevicePage],
  ['sessions', 'Sessions', Sessions, SessionPage],
  ['keys', 'Keys', Keys],
  ['users', 'Users', Users],
];
const OF_SERVICE = [
  ['accounts', 'Accounts'],
  ['health', 'Health'],
  ['audit', 'Audit log'],
] as const;

function Shell({ me }: { readonly me: Me }) {
  const address = useAddress();
  const accounts = useLoad<AccountRow[]>('/accounts');
  const [, area = '', second = '', page = '', detail = ''] = address.pathname.split('/').map(decoded);
  const account = accounts.data?.find(({ id }) => id === (area === 'a' ? second : localStorage.getItem(REMEMBERED)));
  const current = account ?? accounts.data?.[0];
  useEffect(() => {
    if (current) localStorage.setItem(REMEMBERED, current.id);
  }, [current]);
  const [changing, setChanging] = useState(false);
  const signOut = () =>
    void api('POST', '/sign-out')
      .catch(() => undefined)
      .then(() => dispatchEvent(new Event('signed-out')));
  return (
    <div class="shell">
      <a class="skip" href="#content">
        Skip to content
      </a>
      <nav aria-label="Dashboard">
        <Link to="/" class="brand">
          <img src="/dashboard/favicon.svg" alt="" width="22" height="22" />
          <span class="brand-name">Device Insights</span>
        </Link>
        {current && (
          <Select
            class="account"
            aria-label="Account"
            options={(accounts.data ?? []).map(({ id, name }) => [id, name])}
            value={current.id}
            set={(id) => go(`/a/${id}/${area === 'a' ? page : ''}`)}
          />
        )}
        <div class="links">
          <ul>
            {current &&
              OF_ACCOUNT.map(([name, title]) => (
                <li key={name}>
                  <Link to={`/a/${current.id}/${name}`} current={area === 'a' && page === name}>
                    {title}
                  </Link>
                </li>
              ))}
          </ul>
          <ul class="service">
            {OF_SERVICE.map(([name, title]) => (
              <li key={name}>
                <Link to={`/${name}`} current={area === name}>
                  {title}
                </Link>
              </li>
            ))}
            <li>
              <a href="/docs">API reference</a>
            </li>
          </ul>
        </div>
        <div class="who">
          <span>
            {me.name}
            {me.role === 'viewer' && <span class="mute"> (viewer)</span>}
          </span>
          <Button class="small" onClick={() => setChanging(true)}>
            Password
          </Button>
          <Button class="small" onClick={signOut}>
            Sign out
          </Button>
        </div>
      </nav>
      {changing && <ChangePassword onClose={() => setChanging(false)} />}
      <main id="content">
        <Loading of={accounts} />
        {accounts.data && routed(area, page, detail, area === 'a' ? account : current, accounts, me)}
      </main>
    </div>
  );
}

/** A part of an address; a part that cannot be decoded is in no page's address. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function routed(
  area: string,
  page: string,
  detail: string,
  account: AccountRow | undefined,
  accounts: { readonly data: AccountRow[] | undefined; reload(): Promise<void> },
  me: Me,
): ComponentChild {
  if (area === 'accounts' || accounts.data?.length === 0)
    return <Accounts accounts={accounts.data ?? []} reload={accounts.reload} me={me} />;
  if (area === 'health') return <Health />;
  if (area === 'audit') return <Audit accounts={accounts.data ?? []} />;
  if ((area === '' || area === 'a') && account) {
    const props = { account, me, key: account.id };
    if (page === '') return <FirstPage {...props} />;
    const [, , All, One] = OF_ACCOUNT.find(([name]) => name === page) ?? [];
    if (One && detail) return <One {...props} id={detail} key={detail} />;
    if (All) return <All {...props} />;
  }
  return (
    <Page title="Page not found">
      <Empty title="There is no such page">
        Check the address, or <Link to="/">go to the first page</Link>.
      </Empty>
    </Page>
  );
}

/** Goes on to the first steps while the account has no session, and to its live readings once it has one. */
function FirstPage({ account }: AccountPage) {
  const sessions = useLoad<Listed<SessionRow>>(`/accounts/${account.id}/sessions?limit=1`);
  useEffect(() => {
    if (sessions.data) replace(`/a/${account.id}/${sessions.data.rows.length > 0 ? 'live' : 'start'}`);
  }, [sessions.data, account.id]);
  return <Loading of={sessions} />;
}
