import { useState } from 'preact/hooks';
import type { DeviceRow, RefusedRow } from '../../../src/dashboard/rows.js';
import type { AccountPage } from '../account-page.js';
import { query, useLoad } from '../api.js';
import { usePages } from '../pages.js';
import { Link } from '../router.js';
import { Badge, Choice, DeviceLink, Empty, NONE, Page, Panel, Rows, Table, TextField, When } from '../ui.js';

const REFRESH_MS = 5000;
const SHOWN = [
  ['', 'All devices'],
  ['only', 'With a problem, by problem'],
] as const;
const IN_SESSION = <Badge tone="good">In session</Badge>;
const NO_SESSION = <Badge tone="mute">No session</Badge>;

/** Connections that were refused; nothing if there are none. */
function Refused({ account }: { readonly account: string }) {
  const { data = [] } = useLoad<RefusedRow[]>(`/accounts/${account}/refused`, REFRESH_MS);
  if (data.length === 0) return null;
  return (
    <Panel title="Refused connections">
      <p class="mute">The last 100 that this gateway refused since its start.</p>
      <Table
        label="Refused connections"
        rows={data}
        id={({ device_id, reason, address, key_prefix }) => `${device_id} ${reason} ${address} ${key_prefix}`}
        columns={[
          { name: 'Device', cell: ({ device_id }) => device_id ?? <span class="mute">no id</span> },
          { name: 'Reason', kind: 'why', cell: ({ reason }) => reason },
          { name: 'Code', cell: ({ code }) => code },
          { name: 'Address', cell: ({ address }) => address },
          { name: 'Key', cell: ({ key_prefix: prefix }) => (prefix === null ? NONE : <code>{prefix}…</code>) },
          { name: 'Times', cell: ({ count }) => count },
          { name: 'Last', cell: ({ at }) => <When at={at} /> },
        ]}
      />
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
        <TextField label="Device id begins with" value={prefix} set={(text) => setPrefix(text.trim())} />
        <Choice label="Show" options={SHOWN} value={problems} set={setProblems} />
      </div>
      <Rows
        list={list}
        empty={empty}
        more="More devices"
        label="Devices"
        id={({ device_id }) => device_id}
        columns={[
          { name: 'Device', cell: ({ device_id }) => <DeviceLink account={account.id} id={device_id} /> },
          { name: 'State', cell: ({ session }) => (session ? IN_SESSION : NO_SESSION) },
          {
            name: 'Problem',
            cell: ({ problem }) =>
              problem === null ? NONE : <Badge tone="warn">{problem.replaceAll('_', ' ')}</Badge>,
          },
          {
            name: 'Last data',
            cell: ({ session, data_end }) => (
              <When at={session?.last_data_at ?? data_end} none={session ? 'not yet' : '–'} />
            ),
          },
          { name: 'First seen', cell: ({ created_at }) => <When at={created_at} /> },
        ]}
      />
      <Refused account={account.id} />
    </Page>
  );
}
