import { useState } from 'preact/hooks';
import type { KeyRow, NewKey } from '../../../src/dashboard/rows.js';
import type { AccountPage } from '../account-page.js';
import { api, query } from '../api.js';
import { date } from '../format.js';
import { usePages } from '../pages.js';
import { Link, useAddress } from '../router.js';
import { now } from '../service-clock.js';
import { Badge, Button, Choice, Code, Dialog, Empty, FormDialog, Page, Rows, TextField, When } from '../ui.js';

const REFRESH_MS = 5000;

type Doing = { readonly what: 'issue' } | { readonly what: 'rotate' | 'revoke' | 'label'; readonly key: KeyRow };

/** The keys of an account. Keys are issued and revoked only here and on the command line. */
export function Keys({ account, me }: AccountPage) {
  const user = useAddress().searchParams.get('user');
  const list = usePages<KeyRow>(`/accounts/${account.id}/keys${query({ user })}`, REFRESH_MS);
  const [doing, setDoing] = useState<Doing>();
  const [made, setMade] = useState<NewKey>();
  const mayChange = me.role === 'operator';
  const finish = async (key?: NewKey) => {
    setDoing(undefined);
    if (key) setMade(key);
    await list.reload();
  };
  const empty = (
    <Empty title="No key yet">
      {mayChange ? 'Issue one: devices and apps need it to connect.' : 'Ask an operator to issue one.'}
    </Empty>
  );
  return (
    <Page
      title={user === null ? 'API keys' : `API keys of ${user}`}
      lead="Devices and apps connect with an API key. A shared key sees the whole account; a user's key sees only that user's sessions."
      actions={
        mayChange && (
          <Button class="primary" onClick={() => setDoing({ what: 'issue' })}>
            Issue a key
          </Button>
        )
      }
    >
      {user !== null && (
        <p>
          <Link to={`/a/${account.id}/keys`}>All keys of the account</Link>
        </p>
      )}
      <Rows
        list={list}
        empty={empty}
        more="Older keys"
        label="API keys"
        id={({ id }) => id}
        columns={[
          { name: 'Key', cell: (key) => <Face row={key} {...(mayChange && isGood(key) && { label: setDoing })} /> },
          {
            name: 'User and permissions',
            kind: 'user',
            cell: ({ user: owner, permissions }) => (
              <>
                {owner ?? 'Whole account'}
                <div class="mute">{permissions.join(', ')}</div>
              </>
            ),
          },
          { name: 'Status', cell: (key) => <Status row={key} /> },
          { name: 'Created', cell: ({ created_at }) => <When at={created_at} /> },
          { name: 'Last used', cell: ({ last_used_at }) => <When at={last_used_at} none="never" /> },
          { name: 'Expires', cell: ({ expires_at }) => <When at={expires_at} none="never" /> },
          {
            name: 'Actions',
            kind: 'row-actions',
            cell: (key) => mayChange && isGood(key) && <Actions row={key} choose={setDoing} />,
          },
        ]}
      />
      {doing?.what === 'issue' && <Issue account={account.id} user={user} finish={finish} />}
      {doing?.what === 'rotate' && <Rotate row={doing.key} finish={finish} />}
      {doing?.what === 'label' && <Label row={doing.key} finish={finish} />}
      {doing?.what === 'revoke' && <Revoke row={doing.key} finish={finish} />}
      {made && (
        <Dialog title="The new key" onClose={() => setMade(undefined)}>
          <p>The key is shown only once. Store it with your secrets.</p>
          <Code label="The new API key" text={made.key} />
          <div class="actions">
            <Button class="primary" onClick={() => setMade(undefined)}>
              I have stored it
            </Button>
          </div>
        </Dialog>
      )}
    </Page>
  );
}

function face({ prefix, last_four }: KeyRow): string {
  return `${prefix}…${last_four}`;
}

function isGood({ revoked_at, expires_at }: KeyRow): boolean {
  return revoked_at === null && (expires_at === null || new Date(expires_at).getTime() > now());
}

type Choose = (doing: Doing) => void;

/** A key as people see it, and a button that changes its label, if it may be changed. */
function Face({ row, label }: { readonly row: KeyRow; readonly label?: Choose }) {
  const text = row.label === '' ? 'Add a label' : 'Change label';
  return (
    <>
      <code class={isGood(row) ? '' : 'over'}>{face(row)}</code>
      {row.label !== '' && <div class="mute">{row.label}</div>}
      {label && (
        <div>
          <Button
            class="link"
            aria-label={`${text} of ${face(row)}`}
            onClick={() => label({ what: 'label', key: row })}
          >
            {text}
          </Button>
        </div>
      )}
    </>
  );
}

function Actions({ row, choose }: { readonly row: KeyRow; readonly choose: Choose }) {
  const button = (what: 'rotate' | 'revoke', text: string) => (
    <Button class="small" aria-label={`${text} ${face(row)}`} onClick={() => choose({ what, key: row })}>
      {text}
    </Button>
  );
  return (
    <>
      {!row.replaced_by && button('rotate', 'Rotate')}
      {button('revoke', 'Revoke')}
    </>
  );
}

function Status({ row }: { readonly row: KeyRow }) {
  if (row.replaced_by && isGood(row)) return <Badge tone="warn">Replaced</Badge>;
  if (row.revoked_at !== null) return <Badge tone="bad">Revoked</Badge>;
  return isGood(row) ? <Badge tone="good">Valid</Badge> : <Badge tone="mute">Expired</Badge>;
}

type Finish = (key?: NewKey) => Promise<void>;

const EXPIRIES = [
  ['', 'Never'],
  ['1h', 'In an hour'],
  ['24h', 'In a day'],
  ['30d', 'In 30 days'],
  ['90d', 'In 90 days'],
  ['365d', 'In a year'],
] as const;

interface IssueProps {
  readonly account: string;
  readonly user: string | null;
  readonly finish: Finish;
}

function Issue({ account, user: given, finish }: IssueProps) {
  const [user, setUser] = useState(given ?? '');
  const [label, setLabel] = useState('');
  const [may, setMay] = useState('');
  const [expires, setExpires] = useState('');
  const isOfUser = user.trim() !== '';
  const submit = () => {
    const wanted = { user: user.trim() || null, label: label.trim(), expires: expires || null };
    const permissions = may === '' ? undefined : may.split(',');
    return api<NewKey>('POST', `/accounts/${account}/keys`, { ...wanted, permissions }).then(finish);
  };
  return (
    <FormDialog title="Issue a key" submit="Issue a key" onSubmit={submit} onClose={finish}>
      <TextField
        label="User"
        hint="Leave empty for a key that sees the whole account."
        value={user}
        set={setUser}
        maxLength={200}
      />
      <LabelField value={label} set={setLabel} />
      <Choice label="May" options={isOfUser ? MAY_OF_USER : MAY} value={may} set={setMay} />
      <Choice label="Expires" options={EXPIRIES} value={expires} set={setExpires} />
    </FormDialog>
  );
}

const MAY_OF_USER = [
  ['', 'Read and stream'],
  ['read', 'Read only: for web pages'],
  ['stream', 'Stream only: for devices'],
] as const;
const MAY = [
  ['', 'Read, stream and change device models'],
  ['read,stream', 'Read and stream'],
  ...MAY_OF_USER.slice(1),
] as const;

function LabelField(field: { readonly value: string; readonly set: (value: string) => void }) {
  return <TextField label="Label" hint="What the key is for, such as “kiosk in Bern”." maxLength={100} {...field} />;
}

interface KeyProps {
  readonly row: KeyRow;
  readonly finish: Finish;
}

function Label({ row, finish }: KeyProps) {
  const [label, setLabel] = useState(row.label);
  const submit = () => api('POST', `/keys/${row.id}/label`, { label: label.trim() }).then(() => finish());
  return (
    <FormDialog title={`Label of ${face(row)}`} submit="Save" onSubmit={submit} onClose={finish}>
      <LabelField value={label} set={setLabel} />
    </FormDialog>
  );
}

const OVERLAPS = [
  ['10m', '10 minutes'],
  ['1h', 'An hour'],
  ['24h', 'A day'],
  ['7d', 'A week'],
] as const;

function Rotate({ row, finish }: KeyProps) {
  const [overlap, setOverlap] = useState('24h');
  const submit = () => api<NewKey>('POST', `/keys/${row.id}/rotate`, { overlap }).then(finish);
  return (
    <FormDialog title={`Rotate ${face(row)}`} submit="Create the new key" onSubmit={submit} onClose={finish}>
      <p>
        A new key replaces it. Both are valid during the overlap; then the old key is revoked and its sockets close.
      </p>
      <Choice label="Overlap" options={OVERLAPS} value={overlap} set={setOverlap} />
    </FormDialog>
  );
}

function Revoke({ row, finish }: KeyProps) {
  const submit = () => api('POST', `/keys/${row.id}/revoke`).then(() => finish());
  return (
    <FormDialog title={`Revoke ${face(row)}?`} submit="Revoke the key" danger onSubmit={submit} onClose={finish}>
      <p>
        The key stops working at once, and its open sockets close within 2 s. This cannot be undone.
        {row.last_used_at !== null && ` It was last used ${date(row.last_used_at)}.`}
      </p>
    </FormDialog>
  );
}
