import { useState } from 'preact/hooks';
import type { SessionRow } from '../../../src/dashboard/rows.js';
import type { AccountPage } from '../account-page.js';
import { query } from '../api.js';
import { date, duration } from '../format.js';
import { usePages } from '../pages.js';
import { Link, useAddress } from '../router.js';
import { Badge, Choice, DeviceLink, Empty, NONE, Page, Rows, type TableForm, TextField } from '../ui.js';

const REFRESH_MS = 10_000;
const STATUSES = [
  ['', 'Any'],
  ['open', 'Open'],
  ['closed', 'Closed'],
] as const;

/** Sessions, newest first. */
export function Sessions({ account }: AccountPage) {
  const [device, setDevice] = useState(useAddress().searchParams.get('device') ?? '');
  const [status, setStatus] = useState('');
  const [since, setSince] = useState('');
  const [until, setUntil] = useState('');
  const filter = query({ device, status, data_since: instant(since), data_until: instant(until) });
  const list = usePages<SessionRow>(`/accounts/${account.id}/sessions${filter}`, REFRESH_MS);
  const empty =
    filter === '' ? (
      <Empty title="No session yet">
        A session begins when a device connects. <Link to={`/a/${account.id}/start`}>Start the simulator</Link> to see
        one.
      </Empty>
    ) : (
      <Empty title="No session matches">Remove a filter, or choose another time.</Empty>
    );
  return (
    <Page
      title="Sessions"
      lead="A session is one period of streaming of one device. The newest is first, by the time it was sent."
    >
      <div class="filters">
        <TextField label="Device id" value={device} set={(text) => setDevice(text.trim())} />
        <Choice label="Status" options={STATUSES} value={status} set={setStatus} />
        <TextField label="Data from" type="datetime-local" value={since} set={setSince} />
        <TextField label="Data before" type="datetime-local" value={until} set={setUntil} />
      </div>
      <Rows list={list} empty={empty} more="Older sessions" {...sessionTable(account.id)} />
    </Page>
  );
}

/** A table of an account's sessions. */
export function sessionTable(account: string): TableForm<SessionRow> {
  return {
    label: 'Sessions',
    id: ({ id }) => id,
    columns: [
      {
        name: 'Data from',
        cell: ({ id, data_start, started_at }) => (
          <Link to={`/a/${account}/sessions/${id}`}>{date(data_start ?? started_at)}</Link>
        ),
      },
      { name: 'Device', cell: ({ device_id }) => <DeviceLink account={account} id={device_id} /> },
      { name: 'User', cell: ({ user }) => user ?? NONE },
      { name: 'Status', cell: (row) => <Status row={row} /> },
      { name: 'Length', kind: 'number', cell: (row) => duration(lengthOf(row)) },
      { name: 'Sent', cell: (row) => <Sent row={row} /> },
    ],
  };
}

export function Status({ row }: { readonly row: SessionRow }) {
  return row.status === 'open' ? <Badge tone="good">Open</Badge> : <Badge tone="mute">Closed</Badge>;
}

/** Time from its data to their arrival from which a session counts as sent later, ms. */
const LATER_MS = 60_000;

/** When the data of a session were sent: as they were measured, or later. */
export function Sent({ row }: { readonly row: SessionRow }) {
  if (!isLater(row)) return <span class="mute">live</span>;
  return <>{date(row.started_at)}</>;
}

function isLater({ started_at, data_start }: SessionRow): boolean {
  return data_start !== null && new Date(started_at).getTime() - new Date(data_start).getTime() > LATER_MS;
}

/** The time that the data of a session span, ms. */
export function lengthOf({ data_start, data_end }: SessionRow): number {
  return data_start === null || data_end === null ? 0 : new Date(data_end).getTime() - new Date(data_start).getTime();
}

/** The instant, in UTC, of a local time that was entered. */
function instant(local: string): string {
  return local === '' ? '' : new Date(local).toISOString();
}
