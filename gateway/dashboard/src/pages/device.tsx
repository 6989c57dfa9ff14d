import { useMemo, useState } from 'preact/hooks';
import type { DeviceView, Inspection, Listed, Live, SessionRow } from '../../../src/dashboard/rows.js';
import type { DetailPage } from '../account-page.js';
import { api, query, useLoad } from '../api.js';
import { Chart } from '../chart.js';
import { count, duration } from '../format.js';
import { noticeWord } from '../problems.js';
import { go } from '../router.js';
import { now } from '../service-clock.js';
import { Badge, Button, Empty, Fact, FormDialog, Loading, Page, Panel, Select, Table, When } from '../ui.js';
import { Channels } from './device-channels.js';
import { Readings } from './device-readings.js';
import { ProblemPanel, Problems } from './session-problems.js';
import { sessionTable } from './sessions.js';

const REFRESH_MS = 2000;
const SIGNAL_MS = 1000;

/** One device: its current state and its problems. */
export function DevicePage({ account, me, id: deviceId }: DetailPage) {
  const path = `/accounts/${account.id}/devices/${encodeURIComponent(deviceId)}`;
  const device = useLoad<DeviceView>(path, REFRESH_MS);
  const sessions = useLoad<Listed<SessionRow>>(
    `/accounts/${account.id}/sessions${query({ device: deviceId, limit: 5 })}`,
    10_000,
  );
  const session = device.data?.session ?? null;
  const last = sessions.data?.rows[0];
  const [channel, setChannel] = useState(0);
  const live = useLoad<Live>(session && `/sessions/${session.id}/live?channel=${channel}`, SIGNAL_MS);
  const [isDeleting, setDeleting] = useState(false);
  const { model } = device.data ?? { model: null };
  return (
    <Page
      title={deviceId}
      lead={model && `${model.name}${model.firmware_version && ` · firmware ${model.firmware_version}`}`}
      actions={
        me.role === 'operator' && device.data && <Button onClick={() => setDeleting(true)}>Delete device</Button>
      }
    >
      <Loading of={device} />
      {device.data && (
        <>
          <Facts device={device.data} live={live.data ?? null} now={live.at ?? now()} />
          {live.error && !device.error && <Loading of={live} />}
          {live.data ? <Notices live={live.data} /> : last && <Problems id={last.id} />}
          {session && <Readings session={session.id} live={live.data ?? null} device={device.data} />}
          {live.data && (
            <>
              <Channels live={live.data} />
              <SignalPanel live={live.data} channel={channel} choose={setChannel} />
            </>
          )}
          <Panel title="Sessions">
            {sessions.data && sessions.data.rows.length > 0 ? (
              <Table {...sessionTable(account.id)} rows={sessions.data.rows} />
            ) : (
              <Empty title="No session yet">One begins when the device connects.</Empty>
            )}
          </Panel>
        </>
      )}
      {isDeleting && (
        <FormDialog
          title={`Delete ${deviceId}?`}
          submit="Delete device"
          danger
          onClose={() => setDeleting(false)}
          onSubmit={() => api('DELETE', path).then(() => go(`/a/${account.id}/devices`))}
        >
          <p>Its sessions and readings are kept. If it connects again, it is listed again.</p>
        </FormDialog>
      )}
    </Page>
  );
}

interface FactsProps {
  readonly device: DeviceView;
  readonly live: Inspection | null;
  /** Time of these data. */
  readonly now: number;
}

function Facts({ device, live, now }: FactsProps) {
  const refused = live?.refused.reduce((sum, { count: n }) => sum + n, 0) ?? 0;
  return (
    <dl class="facts">
      <Fact name="State">
        <State {...{ device, live, now }} />
      </Fact>
      <Fact name="Last data">
        <When at={live?.last_data_at ?? device.session?.last_data_at ?? device.data_end} none="never" />
      </Fact>
      <Fact name="Frames accepted">{live ? count(live.frames) : '–'}</Fact>
      <Fact name="Frames refused">{refused > 0 ? <Badge tone="bad">{count(refused)}</Badge> : live ? '0' : '–'}</Fact>
      <Fact name="First seen">
        <When at={device.created_at} />
      </Fact>
    </dl>
  );
}

function State({ device, live, now }: FactsProps) {
  if (!device.session) return <Badge tone="mute">Offline</Badge>;
  if (!live) return <Badge tone="warn">In session</Badge>;
  const since = duration(now - live.since);
  return live.connected ? (
    <Badge tone="good">Connected for {since}</Badge>
  ) : (
    <Badge tone="warn">Disconnected for {since}</Badge>
  );
}

/** The problems of the device's data now. */
function Notices({ live: { notices, refused, channels } }: { readonly live: Inspection }) {
  return (
    <ProblemPanel refused={refused}>
      {notices.map((notice) => (
        <li key={`${notice.code}${notice.channel}${notice.insight}`}>
          <Badge tone="warn">{noticeWord(notice)}</Badge>{' '}
          {notice.channel !== null && <b>{channels[notice.channel]?.modality}: </b>}
          {notice.detail}
        </li>
      ))}
    </ProblemPanel>
  );
}

interface SignalProps {
  readonly live: Inspection;
  readonly channel: number;
  readonly choose: (channel: number) => void;
}

const LANES = ['--hr', '--spo2', '--rr', '--mute'];

/** The live signal, while this page is open. */
function SignalPanel({ live, channel, choose }: SignalProps) {
  const { signal } = live;
  const lines = useMemo(
    () =>
      (signal?.lanes ?? []).map((values, lane, all) => ({
        label: all.length > 1 ? `sub-channel ${lane}` : 'signal',
        color: LANES[lane] ?? '--mute',
        values,
      })),
    [signal],
  );
  const name = live.channels[channel]?.modality ?? '';
  return (
    <Panel
      title="Signal, last 30 s"
      aside={
        <Select
          aria-label="Channel"
          options={live.channels.map(({ index, modality }) => [`${index}`, `${index} ${modality}`])}
          value={`${channel}`}
          set={(value) => choose(Number(value))}
        />
      }
    >
      {signal && signal.t.length > 1 && lines.length > 0 ? (
        <Chart key={channel} label={`Signal of ${name}`} t={signal.t} lines={lines} height={190} seconds={30} />
      ) : (
        <Empty title="Waiting for samples">The signal is collected only while this page is open.</Empty>
      )}
    </Panel>
  );
}
