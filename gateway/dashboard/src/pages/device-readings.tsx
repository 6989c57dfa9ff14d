import { useEffect, useState } from 'preact/hooks';
import type { DeviceView, Inspection, Series } from '../../../src/dashboard/rows.js';
import { useLoad } from '../api.js';
import { TYPES } from '../readings.js';
import { now } from '../service-clock.js';
import { Badge, Empty, Panel, Skeleton, Table } from '../ui.js';
import { extentOf } from './device-channels.js';

const REFRESH_MS = 2000;
const RECENT_MS = 60_000;
/** The window of hrv and rhythm. */
const LONGEST_WINDOW_MS = 60_000;

interface Props {
  readonly session: string;
  readonly live: Inspection | null;
  readonly device: DeviceView;
}

/** The newest readings, each with the reason for its quality. */
export function Readings({ session, live, device }: Props) {
  const [from, setFrom] = useState(now() - RECENT_MS);
  useEffect(() => {
    const timer = setInterval(() => setFrom(now() - RECENT_MS), REFRESH_MS);
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
          rows={kept}
          id={({ type }) => type}
          columns={[
            { name: 'Reading', cell: ({ type }) => TYPES[type].name },
            { name: 'Value', kind: 'number', cell: newest },
            { name: 'Quality', cell: (series) => <Badge tone={TONES[qualityOf(series)]}>{qualityOf(series)}</Badge> },
            { name: 'Confidence', kind: 'number', cell: ({ confidence }) => confidence.at(-1)?.toFixed(2) },
            { name: 'Why', kind: 'why', cell: (series) => why(series, live, device) },
          ]}
        />
      )}
    </Panel>
  );
}

const qualityOf = ({ quality }: Series) => quality.at(-1) ?? 'unfit';

function newest(series: Series): string {
  const { type, value, unit } = series;
  return `${qualityOf(series) === 'unfit' ? '–' : value.at(-1)?.toFixed(TYPES[type].digits)} ${unit}`;
}

const TONES = { excellent: 'good', acceptable: 'warn', unfit: 'bad' } as const;

function whyNone(live: Inspection | null): string {
  if (!live?.last_data_at) return 'This session has no data yet: check that the device sends frames after `ready`.';
  const notAnalysed = live.notices.find(({ code }) => code === 'not_analysed');
  if (notAnalysed) return notAnalysed.detail;
  const none = live.notices.filter(({ code }) => code === 'no_reading');
  if (none.length > 0) return `${none.map(({ detail }) => detail).join('; ')}.`;
  if (now() - live.last_data_at > 10_000) return 'The device sends no data: check its connection.';
  return 'A reading needs data in at least half of its window, and a signal from which it can be estimated: check the contact of the sensor.';
}

/** The reason for the quality of the newest reading. */
function why(series: Series, live: Inspection | null, { model }: DeviceView): string {
  const coverage = series.coverage.at(-1) ?? 0;
  if (coverage < 0.95) {
    const cause = live && hasJustBegun(live) ? 'the session has just begun' : 'see the gaps below';
    return `Only ${Math.round(coverage * 100)} % of the window contains data: ${cause}.`;
  }
  if (qualityOf(series) === 'excellent') return 'The window is full, and the signal is clear.';
  const none = live?.notices.find(({ insight }) => insight === series.type);
  if (none) return `${none.detail}.`;
  const has = (notice: string) => live?.notices.some(({ code }) => code === notice);
  if (has('ts_unsteady')) return 'The time stamps of the frames step ahead and back: this limits the confidence.';
  if (has('order_wrong')) return 'The samples are not in the order of measurement: this limits the confidence.';
  if (has('rate_off'))
    return 'The measured sample rate differs from the rate in the device model: this limits the confidence.';
  if (series.type === 'spo2' && model && !model.has_spo2_calibration)
    return 'The device model has no spo2_calibration: without the calibration curve of its optics, SpO₂ is acceptable at best.';
  return 'The window is full, but the signal is weak or disturbed: check the sensor contact, motion and ambient light.';
}

/** Whether there are no gaps, and not yet data for the longest window. */
function hasJustBegun(live: Inspection): boolean {
  const [start, end] = extentOf(live);
  return end - start < LONGEST_WINDOW_MS && live.channels.every(({ covered }) => covered.length <= 1);
}
