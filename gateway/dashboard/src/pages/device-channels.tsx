import type { ChannelState, Inspection } from '../../../src/dashboard/rows.js';
import { clock } from '../format.js';
import { Badge, Panel, Table } from '../ui.js';

/** The service sends a notice to a device whose rate is further off than this. */
const RATE_OFF = 0.05;
/** Time for which the service keeps the periods with data, ms. */
const KEPT_MS = 600_000;

/** Data time of the first and the last data of the last ten minutes. */
export function extentOf({ channels }: Inspection): [start: number, end: number] {
  const end = Math.max(...channels.map(({ covered }) => covered.at(-1)?.[1] ?? 0));
  return [Math.max(end - KEPT_MS, Math.min(...channels.map(({ covered }) => covered[0]?.[0] ?? end))), end];
}

/** Rates and gaps of the last ten minutes. */
export function Channels({ live }: { readonly live: Inspection }) {
  const [start, end] = extentOf(live);
  return (
    <Panel title="Channels" note={end > 0 && `${clock(start)} to ${clock(end)}`}>
      <Table
        label="Channels"
        rows={live.channels}
        id={({ index }) => index}
        columns={[
          { name: 'Channel', cell: ({ index, modality }) => `${index} ${modality}` },
          { name: 'Declared', kind: 'number', cell: ({ declared_hz }) => `${declared_hz} Hz` },
          { name: 'Measured', kind: 'number', cell: (channel) => <Measured channel={channel} /> },
          { name: 'Data and gaps', cell: ({ covered }) => <Coverage covered={covered} start={start} end={end} /> },
        ]}
      />
    </Panel>
  );
}

function Measured({ channel: { declared_hz, measured_hz } }: { readonly channel: ChannelState }) {
  if (measured_hz === null) return <span class="mute">not known yet</span>;
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
  const percent = `${Math.round(share * 100)} %`;
  const missing = `${gaps} ${gaps === 1 ? 'gap' : 'gaps'}`;
  const label = `${percent} of the time contains data, ${missing}`;
  return (
    <span class="coverage">
      <svg viewBox="0 0 1000 10" preserveAspectRatio="none" role="img" aria-label={label}>
        {within.map(([from, to]) => (
          <rect key={from} x={((from - start) / span) * 1000} width={((to - from) / span) * 1000} height="10" />
        ))}
      </svg>
      <span class="mute">{gaps > 0 ? `${percent}, ${missing}` : percent}</span>
    </span>
  );
}
