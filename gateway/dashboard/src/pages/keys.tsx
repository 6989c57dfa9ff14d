import { useState } from 'preact/hooks';
import type { KeyRow, NewKey } from '../../../src/dashboard/schemas.js';
import type { AccountPage } from '../account-page.js';
import { api, query } from '../api.js';
import { date } from '../format.js';
import { usePages } from '../pages.js';
import { Link, useAddress } from '../router.js';
import { now } from '../service-clock.js';
import { Badge, Code, Dialog, Empty, Field, Form, Page, Rows, Table, When } from '../ui.js';

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
          <button type="button" class="primary" onClick={() => setDoing({ what: 'issue' })}>
            Issue a key
          </button>
        )
      }
    >
      {user !== null && (
        <p>
          <Link to={`/a/${account.id}/keys`}>All keys of the account</Link>
        </p>
      )}
      <Rows list={list} empty={empty} more="Older keys">
        {(rows) => (
          <Table
            label="API keys"
            columns={[
              'Key',
              'User and permissions',
              'Status',
              'Created',
              'Last used',
              'Expires',
              { name: 'Actions', hidden: true },
            ]}
          >
            {rows.map((key) => (
              <tr key={key.id} class={isGood(key) ? '' : 'over'}>
                <th scope="row">
                  <code>{face(key)}</code>
                  {key.label !== '' && <div class="mute">{key.label}</div>}
                  {mayChange && isGood(key) && (
                    <div>
                      <button
                        type="button"
                        class="link"
                        aria-label={`${key.label === '' ? 'Add a label' : 'Change label'} of ${face(key)}`}
                        onClick={() => setDoing({ what: 'label', key })}
                      >
                        {key.label === '' ? 'Add a label' : 'Change label'}
                      </button>
                    </div>
                  )}
                </th>
                <td class="user">
                  {key.user ?? 'Whole account'}
                  <div class="mute">
                    <May row={key} />
                  </div>
                </td>
                <td>
                  <Status row={key} />
                </td>
                <td>
                  <When at={key.created_at} />
                </td>
                <td>
                  <When at={key.last_used_at} none="never" />
                </td>
                <td>{key.expires_at === null ? <span class="mute">never</span> : <When at={key.expires_at} />}</td>
                <td class="row-actions">
                  {mayChange && isGood(key) && (
                    <>
                      {!key.replaced_by && (
                        <button
                          type="button"
                          class="small"
                          aria-label={`Rotate ${face(key)}`}
                          onClick={() => setDoing({ what: 'rotate', key })}
                        >
                          Rotate
                        </button>
                      )}
                      <button
                        type="button"
                        class="small"
                        aria-label={`Revoke ${face(key)}`}
                        onClick={() => setDoing({ what: 'revoke', key })}
                      >
                        Revoke
                      </button>
                    </>
                  )}
                </td>
              </tr>
            ))}
          </Table>
        )}
      </Rows>
      {doing?.what === 'issue' && <Issue account={account.id} user={user} finish={finish} />}
      {doing?.what === 'rotate' && <Rotate row={doing.key} finish={finish} />}
      {doing?.what === 'label' && <Label row={doing.key} finish={finish} />}
      {doing?.what === 'revoke' && <Revoke row={doing.key} finish={finish} />}
      {made && (
        <Dialog title="The new key" onClose={() => setMade(undefined)}>
          <p>The key is shown only once. Store it with your secrets.</p>
          <Code label="The new API key" text={made.key} />
          <div class="actions">
            <button type="button" class="primary" onClick={() => setMade(undefined)}>
              I have stored it
            </button>
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

function Status({ row }: { readonly row: KeyRow }) {
  if (row.replaced_by && isGood(row)) return <Badge tone="warn">Replaced</Badge>;
  if (row.revoked_at !== null) return <Badge tone="bad">Revoked</Badge>;
  return isGood(row) ? <Badge tone="good">Valid</Badge> : <Badge tone="mute">Expired</Badge>;
}

/** What a key may do. Keys of users from before permissions existed may also change device models. */
function May({ row: { user, permissions } }: { readonly row: KeyRow }) {
  if (user === null || !permissions.includes('manage')) return <>{permissions.join(', ')}</>;
  return (
    <>
      {permissions.join(', ')}{' '}
      <span class="mute">(issued before permissions existed: rotate it to remove “manage”)</span>
    </>
  );
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

function Issue({
  account,
  user: given,
  finish,
}: {
  readonly account: string;
  readonly user: string | null;
  readonly finish: Finish;
}) {
  const [user, setUser] = useState(given ?? '');
  const [label, setLabel] = useState('');
  const [may, setMay] = useState('');
  const [expires, setExpires] = useState('');
  const isOfUser = user.trim() !== '';
  const submit = async () => {
    const wanted = { user: user.trim() || null, label: label.trim(), expires: expires || null };
    const permissions = may === '' ? undefined : may.split(',');
    await finish(await api<NewKey>('POST', `/accounts/${account}/keys`, { ...wanted, permissions }));
  };
  return (
    <Dialog title="Issue a key" onClose={() => void finish()}>
      <Form submit="Issue a key" onSubmit={submit} onCancel={() => void finish()}>
        <Field label="User" hint="Leave empty for a key that sees the whole account.">
          {(id, hint) => (
            <input
              id={id}
              value={user}
              maxLength={200}
              aria-describedby={hint}
              onInput={(e) => setUser(e.currentTarget.value)}
            />
          )}
        </Field>
        <LabelField value={label} onChange={setLabel} />
        <Choice label="May" options={isOfUser ? MAY_OF_USER : MAY} value={may} onChange={setMay} />
        <Choice label="Expires" options={EXPIRIES} value={expires} onChange={setExpires} />
      </Form>
    </Dialog>
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

function LabelField({ value, onChange }: { readonly value: string; readonly onChange: (value: string) => void }) {
  return (
    <Field label="Label" hint="What the key is for, such as “kiosk in Bern”.">
      {(id, hint) => (
        <input
          id={id}
          value={value}
          maxLength={100}
          aria-describedby={hint}
          onInput={(e) => onChange(e.currentTarget.value)}
        />
      )}
    </Field>
  );
}

function Label({ row, finish }: { readonly row: KeyRow; readonly finish: Finish }) {
  const [label, setLabel] = useState(row.label);
  const submit = async () => {
    await api('POST', `/keys/${row.id}/label`, { label: label.trim() });
    await finish();
  };
  return (
    <Dialog title={`Label of ${face(row)}`} onClose={() => void finish()}>
      <Form submit="Save" onSubmit={submit} onCancel={() => void finish()}>
        <LabelField value={label} onChange={setLabel} />
      </Form>
    </Dialog>
  );
}

const OVERLAPS = [
  ['10m', '10 minutes'],
  ['1h', 'An hour'],
  ['24h', 'A day'],
  ['7d', 'A week'],
] as const;

function Rotate({ row, finish }: { readonly row: KeyRow; readonly finish: Finish }) {
  const [overlap, setOverlap] = useState('24h');
  const submit = async () => finish(await api<NewKey>('POST', `/keys/${row.id}/rotate`, { overlap }));
  return (
    <Dialog title={`Rotate ${face(row)}`} onClose={() => void finish()}>
      <Form submit="Create the new key" onSubmit={submit} onCancel={() => void finish()}>
        <p>
          A new key replaces it. Both are valid during the overlap; then the old key is revoked and its sockets close.
        </p>
        <Choice label="Overlap" options={OVERLAPS} value={overlap} onChange={setOverlap} />
      </Form>
    </Dialog>
  );
}

interface ChoiceProps {
  readonly label: string;
  /** Value and text of each. */
  readonly options: readonly (readonly [string, string])[];
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** A field with a few values to choose from. */
function Choice({ label, options, value, onChange }: ChoiceProps) {
  return (
    <Field label={label}>
      {(id) => (
        <select id={id} value={value} onChange={(e) => onChange(e.currentTarget.value)}>
          {options.map(([option, name]) => (
            <option key={option} value={option}>
              {name}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

function Revoke({ row, finish }: { readonly row: KeyRow; readonly finish: Finish }) {
  const submit = async () => {
    await api('POST', `/keys/${row.id}/revoke`);
    await finish();
  };
  return (
    <Dialog title={`Revoke ${face(row)}?`} onClose={() => void finish()}>
      <Form submit="Revoke the key" danger onSubmit={submit} onCancel={() => void finish()}>
        <p>
          The key stops working at once, and its open sockets close within 2 s. This cannot be undone.
          {row.last_used_at !== null && ` It was last used ${date(row.last_used_at)}.`}
        </p>
      </Form>
    </Dialog>
  );
}
