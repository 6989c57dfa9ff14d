import { useState } from 'preact/hooks';
import type { DeviceRow, RefusedRow } from '../../../src/dashboard/schemas.js';
import type { AccountPage } from '../account-page.js';
import { query, useLoad } from '../api.js';
import { usePages } from '../pages.js';
import { Link } from '../router.js';
import { Badge, Empty, Field, Page, Panel, Rows, Table, When } from '../ui.js';

const REFRESH_MS = 5000;

/** Connections that were refused; nothing if there are none. */
function Refused({ account }: { readonly account: string }) {
  const { data = [] } = useLoad<RefusedRow[]>(`/accounts/${account}/refused`, REFRESH_MS);
  if (data.length === 0) return null;
  return (
    <Panel title="Refused connections">
      <p class="mute">The last 100 that this gateway refused since its start.</p>
      <Table label="Refused connections" columns={['Device', 'Reason', 'Code', 'Address', 'Key', 'Times', 'Last']}>
        {data.map(({ device_id, reason, code, address, key_prefix, count, at }) => (
          <tr key={`${device_id} ${reason} ${address} ${key_prefix}`}>
            <th scope="row">{device_id ?? <span class="mute">no id</span>}</th>
            <td class="why">{reason}</td>
            <td>{code}</td>
            <td>{address}</td>
            <td>{key_prefix === null ? <span class="mute">–</span> : <code>{key_prefix}…</code>}</td>
            <td>{count}</td>
            <td>
              <When at={at} />
            </td>
          </tr>
        ))}
      </Table>
    </Panel>
  );
}

/** Devices that have streamed. */
export function Devices({ account }: AccountPage) {
  const [prefix, setPrefix] = useState('');
  const [problems, setProblems] = useState('');
  const list = usePages<DeviceRow>(`/accounts/${account.id}/devices${query({ prefix, problems })}`, REFRESH_MS);
  const empty =
    problems !== '' ? (
      <Empty title="No device has a problem">Choose all devices to see the others.</Empty>
    ) : prefix === '' ? (
      <Empty title="No device has streamed yet">
        A device appears here with its first connection. <Link to={`/a/${account.id}/start`}>Start the simulator</Link>{' '}
        to see one.
      </Empty>
    ) : (
      <Empty title={`No device id begins with ${prefix}`}>Device ids are case-sensitive.</Empty>
    );
  return (
    <Page title="Devices" lead="All devices that have streamed, with their current state.">
      <div class="filters">
        <Field label="Device id begins with">
          {(id) => <input id={id} value={prefix} onInput={(event) => setPrefix(event.currentTarget.value.trim())} />}
        </Field>
        <Field label="Show">
          {(id) => (
            <select id={id} value={problems} onChange={(event) => setProblems(event.currentTarget.value)}>
              <option value="">All devices</option>
              <option value="only">With a problem, by problem</option>
            </select>
          )}
        </Field>
      </div>
      <Rows list={list} empty={empty} more="More devices">
        {(rows) => (
          <Table label="Devices" columns={['Device', 'State', 'Problem', 'Last data', 'First seen']}>
            {rows.map(({ device_id, session, created_at, problem, data_end }) => (
              <tr key={device_id}>
                <th scope="row">
                  <Link to={`/a/${account.id}/devices/${encodeURIComponent(device_id)}`}>{device_id}</Link>
                </th>
                <td>{session ? <Badge tone="good">In session</Badge> : <Badge tone="mute">No session</Badge>}</td>
                <td>
                  {problem === null ? (
                    <span class="mute">–</span>
                  ) : (
                    <Badge tone="warn">{problem.replaceAll('_', ' ')}</Badge>
                  )}
                </td>
                <td>
                  <When at={session?.last_data_at ?? data_end} none={session ? 'not yet' : '–'} />
                </td>
                <td>
                  <When at={created_at} />
                </td>
              </tr>
            ))}
          </Table>
        )}
      </Rows>
      <Refused account={account.id} />
    </Page>
  );
}
