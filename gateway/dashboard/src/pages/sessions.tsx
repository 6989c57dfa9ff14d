import { useState } from 'preact/hooks';
import type { SessionRow } from '../../../src/dashboard/schemas.js';
import type { AccountPage } from '../account-page.js';
import { query } from '../api.js';
import { date, duration } from '../format.js';
import { usePages } from '../pages.js';
import { Link, useAddress } from '../router.js';
import { Badge, Empty, Field, Page, Rows, Table } from '../ui.js';

const REFRESH_MS = 10_000;

/** Sessions, newest first. */
export function Sessions({ account }: AccountPage) {
  const [device, setDevice] = useState(useAddress().searchParams.get('device') ?? '');
  const [status, setStatus] = useState('');
  const [since, setSince] = useState('');
  const [until, setUntil] = useState('');
  const filter = query({ device, status, data_since: instant(since), data_until: instant(until) });
  const list = usePages<SessionRow>(`/accounts/${account.id}/sessions${filter}`, REFRESH_MS);
  const text = (set: (value: string) => void) => (event: Event) =>
    set((event.currentTarget as HTMLInputElement | HTMLSelectElement).value.trim());
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
        <Field label="Device id">{(id) => <input id={id} value={device} onInput={text(setDevice)} />}</Field>
        <Field label="Status">
          {(id) => (
            <select id={id} value={status} onChange={text(setStatus)}>
              <option value="">Any</option>
              <option value="open">Open</option>
              <option value="closed">Closed</option>
            </select>
          )}
        </Field>
        <Field label="Data from">
          {(id) => <input id={id} type="datetime-local" value={since} onInput={text(setSince)} />}
        </Field>
        <Field label="Data before">
          {(id) => <input id={id} type="datetime-local" value={until} onInput={text(setUntil)} />}
        </Field>
      </div>
      <Rows list={list} empty={empty} more="Older sessions">
        {(rows) => <SessionTable account={account.id} rows={rows} />}
      </Rows>
    </Page>
  );
}

export function SessionTable({ account, rows }: { readonly account: string; readonly rows: readonly SessionRow[] }) {
  return (
    <Table
      label="Sessions"
      columns={['Data from', 'Device', 'User', 'Status', { name: 'Length', number: true }, 'Sent']}
    >
      {rows.map((row) => (
        <tr key={row.id}>
          <th scope="row">
            <Link to={`/a/${account}/sessions/${row.id}`}>{date(row.data_start ?? row.started_at)}</Link>
          </th>
          <td>
            <Link to={`/a/${account}/devices/${encodeURIComponent(row.device_id)}`}>{row.device_id}</Link>
          </td>
          <td>{row.user ?? <span class="mute">–</span>}</td>
          <td>{row.status === 'open' ? <Badge tone="good">Open</Badge> : <Badge tone="mute">Closed</Badge>}</td>
          <td class="number">{duration(lengthOf(row))}</td>
          <td>
            <Sent row={row} />
          </td>
        </tr>
      ))}
    </Table>
  );
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
