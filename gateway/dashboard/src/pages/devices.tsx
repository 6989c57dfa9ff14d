import { useState } from 'preact/hooks';
import type { DeviceRow } from '../../../src/dashboard/schemas.js';
import type { AccountPage } from '../account-page.js';
import { query } from '../api.js';
import { usePages } from '../pages.js';
import { Link } from '../router.js';
import { Badge, Empty, Failure, Field, More, Page, Skeleton, Table, When } from '../ui.js';

const REFRESH_MS = 5000;

/** Devices that have streamed. */
export function Devices({ account }: AccountPage) {
  const [prefix, setPrefix] = useState('');
  const { rows, next, at, error, more, reload } = usePages<DeviceRow>(
    `/accounts/${account.id}/devices${query({ prefix })}`,
    REFRESH_MS,
  );
  return (
    <Page title="Devices" lead="All devices that have streamed, with their current state.">
      <div class="filters">
        <Field label="Device id begins with">
          {(id) => <input id={id} value={prefix} onInput={(event) => setPrefix(event.currentTarget.value.trim())} />}
        </Field>
      </div>
      {error && <Failure error={error} retry={() => void reload()} shownAt={at} />}
      {!rows && !error && <Skeleton />}
      {rows?.length === 0 &&
        (prefix === '' ? (
          <Empty title="No device has streamed yet">
            A device appears here with its first connection.{' '}
            <Link to={`/a/${account.id}/start`}>Start the simulator</Link> to see one.
          </Empty>
        ) : (
          <Empty title={`No device id begins with ${prefix}`}>Upper and lower case are distinct.</Empty>
        ))}
      {rows && rows.length > 0 && (
        <Table label="Devices" columns={['Device', 'State', 'Last data', 'First seen']}>
          {rows.map(({ device_id, session, created_at }) => (
            <tr key={device_id}>
              <th scope="row">
                <Link to={`/a/${account.id}/devices/${encodeURIComponent(device_id)}`}>{device_id}</Link>
              </th>
              <td>{session ? <Badge tone="good">In session</Badge> : <Badge tone="mute">No session</Badge>}</td>
              <td>
                <When at={session?.last_data_at ?? null} none={session ? 'not yet' : '–'} />
              </td>
              <td>
                <When at={created_at} />
              </td>
            </tr>
          ))}
        </Table>
      )}
      <More next={next} load={more} label="More devices" />
    </Page>
  );
}
