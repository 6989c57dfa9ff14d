import { useEffect, useMemo, useState } from 'preact/hooks';
import type {
  ChannelState,
  DeviceView,
  Inspection,
  Listed,
  Live,
  Series,
  SessionRow,
} from '../../../src/dashboard/schemas.js';
import type { AccountPage } from '../account-page.js';
import { api, query, useLoad } from '../api.js';
import { Chart } from '../chart.js';
import { clock, count, duration } from '../format.js';
import { TYPES } from '../readings.js';
import { go } from '../router.js';
import { Badge, Dialog, Empty, Failure, Form, Page, Panel, Skeleton, Table, When } from '../ui.js';
import { Fact } from './session.js';
import { SessionTable } from './sessions.js';

const REFRESH_MS = 2000;
const SIGNAL_MS = 1000;
const RECENT_MS = 60_000;
/** The service sends a notice to a device whose rate is further off than this. */
const RATE_OFF = 0.05;

/** Causes of refused frames (ingest protocol, section 3). */
const REFUSED: Readonly<Record<string, string>> = {
  bad_json: 'text that is not JSON',
  bad_message: 'JSON that is not a message of the protocol',
  bad_version: 'an unknown version of the binary format',
  bad_encoding: 'an unknown encoding',
  bad_frame: 'an invalid binary header',
  bad_length: 'samples that do not make up whole instants',
  bad_value: 'a number out of range',
  unknown_channel: 'a channel that the model does not have',
  too_late: 'sequence numbers that had already been given up as lost',
  in_future: 'times more than a minute in the future: connect with the clock parameter',
};

/** One device: its current state and its problems. */
export function DevicePage({ account, me, deviceId }: AccountPage & { readonly deviceId: string }) {
  const path = `/accounts/${account.id}/devices/${encodeURIComponent(deviceId)}`;
  const device = useLoad<DeviceView>(path, REFRESH_MS);
  const sessions = useLoad<Listed<SessionRow>>(
    `/accounts/${account.id}/sessions${query({ device: deviceId, limit: 5 })}`,
    10_000,
  );
  const session = device.data?.session ?? null;
  const [channel, setChannel] = useState(0);
  const live = useLoad<Live>(session && `/sessions/${session.id}/live?channel=${channel}`, SIGNAL_MS);
  const [isDeleting, setDeleting] = useState(false);
  const { model } = device.data ?? { model: null };
  return (
    <Page
      title={deviceId}
      lead={model && `${model.name}${model.firmware_version && ` · firmware ${model.firmware_version}`}`}
      actions={
        me.role === 'operator' && (
          <button type="button" onClick={() => setDeleting(true)}>
            Delete device
          </button>
        )
      }
    >
      {device.error && <Failure error={device.error} retry={() => void device.reload()} shownAt={device.at} />}
      {!device.data && !device.error && <Skeleton />}
      {device.data && (
        <>
          <Facts device={device.data} live={live.data ?? null} now={live.at ?? Date.now()} />
          {live.error && !device.error && (
            <Failure error={live.error} retry={() => void live.reload()} shownAt={live.at} />
          )}
          {live.data && <Notices live={live.data} />}
          {session && <Quality session={session.id} live={live.data ?? null} device={device.data} />}
          {live.data && (
            <>
              <Channels live={live.data} />
              <SignalPanel live={live.data} channel={channel} choose={setChannel} />
            </>
          )}
          <Panel title="Sessions">
            {sessions.data && sessions.data.rows.length > 0 ? (
              <SessionTable account={account.id} rows={sessions.data.rows} />
            ) : (
              <Empty title="No session yet">One begins when the device connects.</Empty>
            )}
          </Panel>
        </>
      )}
      {isDeleting && (
        <Dialog title={`Delete ${deviceId}?`} onClose={() => setDeleting(false)}>
          <Form
            submit="Delete device"
            danger
            onCancel={() => setDeleting(false)}
            onSubmit={async () => {
              await api('DELETE', path);
              go(`/a/${account.id}/devices`);
            }}
          >
            <p>Its sessions and readings are kept. If it connects again, it is listed again.</p>
          </Form>
        </Dialog>
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
        <When at={live?.last_data_at ?? device.session?.last_data_at ?? null} none="no open session" />
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
  if (!device.session) return <Badge tone="mute">Not connected, no session</Badge>;
  if (!live) return <Badge tone="warn">In session</Badge>;
  const since = duration(now - live.since);
  return live.connected ? (
    <Badge tone="good">Connected for {since}</Badge>
  ) : (
    <Badge tone="warn">Not connected for {since}</Badge>
  );
}

/** The problems of the device's data. */
function Notices({ live }: { readonly live: Inspection }) {
  if (live.notices.length === 0 && live.refused.length === 0) return null;
  return (
    <Panel title="Problems">
      <ul class="notices">
        {live.notices.map((notice) => (
          <li key={`${notice.code}${notice.channel}`}>
            <Badge tone="warn">{notice.code.replaceAll('_', ' ')}</Badge>{' '}
            {notice.channel !== null && <b>{live.channels[notice.channel]?.modality}: </b>}
            {notice.detail}
          </li>
        ))}
        {live.refused.map(({ code, count: n, detail }) => (
          <li key={code}>
            <Badge tone="bad">{`${count(n)} refused`}</Badge> {REFUSED[code] ?? code.replaceAll('_', ' ')}
            <span class="mute"> (latest: {detail})</span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

interface QualityProps {
  readonly session: string;
  readonly live: Inspection | null;
  readonly device: DeviceView;
}

/** The newest readings, each with the reason for its quality. */
function Quality({ session, live, device }: QualityProps) {
  const [from, setFrom] = useState(Date.now() - RECENT_MS);
  useEffect(() => {
    const timer = setInterval(() => setFrom(Date.now() - RECENT_MS), REFRESH_MS);
    return () => clearInterval(timer);
  }, []);
  const { data } = useLoad<Series[]>(`/sessions/${session}/series?from=${from}`);
  const [kept, setKept] = useState<Series[]>();
  useEffect(() => {
    if (data) setKept(data);
  }, [data]);
  return (
    <Panel title="Readings of the last minute">
      {!kept && <Skeleton rows={3} />}
      {kept?.length === 0 && <Empty title="No readings in the last minute">{whyNone(live)}</Empty>}
      {kept && kept.length > 0 && (
        <Table
          label="Newest readings"
          columns={['Reading', { name: 'Value', number: true }, 'Quality', { name: 'Confidence', number: true }, 'Why']}
        >
          {kept.map((series) => {
            const last = series.value.length - 1;
            const quality = series.quality[last] ?? 'unfit';
            const { name, digits } = TYPES[series.type];
            return (
              <tr key={series.type}>
                <th scope="row">{name}</th>
                <td class="number">
                  {quality === 'unfit' ? '–' : series.value[last]?.toFixed(digits)} {series.unit}
                </td>
                <td>
                  <Badge tone={quality === 'excellent' ? 'good' : quality === 'acceptable' ? 'warn' : 'bad'}>
                    {quality}
                  </Badge>
                </td>
                <td class="number">{series.confidence[last]?.toFixed(2)}</td>
                <td class="why">{why(series, live, device)}</td>
              </tr>
            );
          })}
        </Table>
      )}
    </Panel>
  );
}

function whyNone(live: Inspection | null): string {
  if (!live?.last_data_at) return 'This session has no data yet: check that the device sends frames after `ready`.';
  const notAnalysed = live.notices.find(({ code }) => code === 'not_analysed');
  if (notAnalysed) return notAnalysed.detail;
  if (Date.now() - live.last_data_at > 10_000) return 'The device sends no data: check its connection.';
  return 'A reading needs data in at least half of its window, and a signal from which it can be estimated: check the contact of the sensor.';
}

/** The reason for the quality of the newest reading. */
function why(series: Series, live: Inspection | null, { model }: DeviceView): string {
  const last = series.quality.length - 1;
  const coverage = series.coverage[last] ?? 0;
  if (coverage < 0.95) return `Only ${Math.round(coverage * 100)} % of the window contains data: see the gaps below.`;
  if (series.quality[last] === 'excellent') return 'The window is full, and the signal is clear.';
  const has = (notice: string) => live?.notices.some(({ code }) => code === notice);
  if (has('ts_unsteady')) return 'The time stamps of the frames step ahead and back: this limits the confidence.';
  if (has('order_wrong')) return 'The samples are not in the order of measurement: this limits the confidence.';
  if (has('rate_off'))
    return 'The measured sample rate differs from the rate in the device model: this limits the confidence.';
  if (series.type === 'spo2' && model && !model.has_spo2_calibration)
    return 'The device model has no spo2_calibration: without the calibration curve of its optics, SpO₂ is acceptable at best.';
  return 'The window is full, but the signal is weak or disturbed: check the sensor contact, motion and ambient light.';
}

/** Rates and gaps of the last ten minutes. */
function Channels({ live }: { readonly live: Inspection }) {
  const end = Math.max(...live.channels.map(({ covered }) => covered.at(-1)?.[1] ?? 0));
  const start = Math.max(end - 600_000, Math.min(...live.channels.map(({ covered }) => covered[0]?.[0] ?? end)));
  return (
    <Panel title="Channels" aside={end > 0 && <span class="mute">{`${clock(start)} to ${clock(end)}`}</span>}>
      <Table
        label="Channels"
        columns={['Channel', { name: 'Declared', number: true }, { name: 'Measured', number: true }, 'Data and gaps']}
      >
        {live.channels.map((channel) => (
          <tr key={channel.index}>
            <th scope="row">
              {channel.index} {channel.modality}
            </th>
            <td class="number">{channel.declared_hz} Hz</td>
            <td class="number">
              <Measured channel={channel} />
            </td>
            <td>
              <Coverage covered={channel.covered} start={start} end={end} />
            </td>
          </tr>
        ))}
      </Table>
    </Panel>
  );
}

function Measured({ channel: { declared_hz, measured_hz } }: { readonly channel: ChannelState }) {
  if (measured_hz === null) return <span class="mute">no data</span>;
  const isOff = Math.abs(measured_hz / declared_hz - 1) > RATE_OFF;
  return isOff ? <Badge tone="bad">{measured_hz} Hz</Badge> : <>{measured_hz} Hz</>;
}

interface CoverageProps {
  readonly covered: ChannelState['covered'];
  readonly start: number;
  readonly end: number;
}

function Coverage({ covered, start, end }: CoverageProps) {
  const span = Math.max(1, end - start);
  const within = covered
    .map(([from, to]) => [Math.max(start, from), Math.min(end, to)] as const)
    .filter(([a, b]) => b > a);
  const share = within.reduce((sum, [from, to]) => sum + to - from, 0) / span;
  const gaps = Math.max(0, within.length - 1);
  const label = `${Math.round(share * 100)} % of the time contains data, ${gaps} ${gaps === 1 ? 'gap' : 'gaps'}`;
  return (
    <span class="coverage">
      <svg viewBox="0 0 1000 10" preserveAspectRatio="none" role="img" aria-label={label}>
        {within.map(([from, to]) => (
          <rect key={from} x={((from - start) / span) * 1000} width={((to - from) / span) * 1000} height="10" />
        ))}
      </svg>
      <span class="mute">
        {Math.round(share * 100)} %{gaps > 0 && `, ${gaps} ${gaps === 1 ? 'gap' : 'gaps'}`}
      </span>
    </span>
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
        <select aria-label="Channel" value={channel} onChange={(event) => choose(Number(event.currentTarget.value))}>
          {live.channels.map(({ index, modality }) => (
            <option key={index} value={index}>
              {index} {modality}
            </option>
          ))}
        </select>
      }
    >
      {signal && signal.t.length > 1 && lines.length > 0 ? (
        <Chart key={channel} label={`Signal of ${name}`} t={signal.t} lines={lines} height={190} />
      ) : (
        <Empty title="Waiting for samples">The signal is collected only while this page is open.</Empty>
      )}
    </Panel>
  );
}
