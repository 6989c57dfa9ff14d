import { useMemo, useState } from 'preact/hooks';
import type { Series, SessionRow, Tachogram } from '../../../src/dashboard/rows.js';
import type { SummaryRow } from '../../../src/rest/sessions/schema.js';
import type { DetailPage } from '../account-page.js';
import { query, useLoad } from '../api.js';
import { Chart, type Line } from '../chart.js';
import { count, date, duration } from '../format.js';
import { TYPES, type Type } from '../readings.js';
import { Scatter } from '../scatter.js';
import { Button, DeviceLink, Empty, Fact, Loading, Page, Panel, Table } from '../ui.js';
import { Problems } from './session-problems.js';
import { lengthOf, Sent, Status } from './sessions.js';

const REFRESH_MS = 5000;
/** Beats are stored every 10 s. */
const BEATS_MS = 10_000;
const QUALITY = { excellent: '--good', acceptable: '--warn', unfit: '--bad' } as const;
type Span = { readonly from: number; readonly to: number };

/** One session and its charts. */
export function SessionPage({ account, id }: DetailPage) {
  const session = useLoad<SessionRow>(`/sessions/${id}`, REFRESH_MS);
  const [span, setSpan] = useState<Span | null>(null);
  const isOpen = session.data?.status === 'open';
  const series = useLoad<Series[]>(
    `/sessions/${id}/series${query({ from: span?.from, to: span?.to })}`,
    isOpen && !span ? REFRESH_MS : undefined,
  );
  const zoom = (from: number, to: number) => setSpan({ from, to });
  const row = session.data;
  return (
    <Page
      title={row ? `Session of ${row.device_id}` : 'Session'}
      lead={row && `${date(row.data_start ?? row.started_at)} · ${duration(lengthOf(row))}`}
      actions={
        <>
          {span && <Button onClick={() => setSpan(null)}>Show the whole session</Button>}
          {row && (
            <>
              <a class="button" href={`/dashboard/api/sessions/${id}/insights.csv`} download>
                Download CSV
              </a>
              <a class="button" href={`/dashboard/api/sessions/${id}/beats.csv`} download>
                Download beats
              </a>
            </>
          )}
        </>
      }
    >
      {session.error && <Loading of={session} />}
      {row && (
        <dl class="facts">
          <Fact name="Status">
            <Status row={row} />
          </Fact>
          <Fact name="Device">
            <DeviceLink account={account.id} id={row.device_id} />
          </Fact>
          <Fact name="User">{row.user ?? 'none'}</Fact>
          <Fact name="Sent">
            <Sent row={row} />
          </Fact>
          <Fact name="Channels">
            {row.channels.map(({ modality, sample_rate_hz }) => `${modality} ${sample_rate_hz} Hz`).join(', ')}
          </Fact>
        </dl>
      )}
      <Problems id={id} />
      <Summary id={id} isOpen={isOpen} />
      {!session.error && <Loading of={series} rows={8} />}
      {series.data?.length === 0 && (
        <Empty title="No readings here">
          {span
            ? 'This part of the session has no readings.'
            : 'The first reading needs 4 s of data for heart rate and SpO₂, 16 s for breathing, and 30 s for HRV and rhythm.'}
        </Empty>
      )}
      {series.data?.map((each) => (
        <ValueChart key={each.type} series={each} onZoom={zoom} />
      ))}
      <Beats id={id} span={span} isOpen={isOpen} onZoom={zoom} />
      {series.data && series.data.length > 0 && <Measures series={series.data} onZoom={zoom} />}
    </Page>
  );
}

/** Statistics of the session's readings. */
function Summary({ id, isOpen }: { readonly id: string; readonly isOpen: boolean }) {
  const { data } = useLoad<SummaryRow[]>(`/sessions/${id}/summary`, isOpen ? REFRESH_MS : undefined);
  if (!data || data.length === 0) return null;
  const rows = Object.entries(TYPES).flatMap(([type, as]) => {
    const row = data.find((each) => each.type === type);
    return row ? [{ ...row, ...as }] : [];
  });
  return (
    <Panel
      title="Summary"
      aside={
        <a class="button small" href={`/dashboard/api/sessions/${id}/summary.csv`} download>
          Download summary
        </a>
      }
    >
      <p class="hint">
        Mean, minimum and maximum include only excellent and acceptable readings. The times are those with readings of
        each class, in the whole session.
      </p>
      <Table
        label="Summary"
        rows={rows}
        id={({ type }) => type}
        columns={[
          { name: 'Reading', cell: ({ name }) => name },
          ...VALUES.map(([name, field]) => ({
            name,
            kind: 'number' as const,
            cell: ({ [field]: value, digits, unit }: (typeof rows)[number]) =>
              value === null ? '–' : `${value.toFixed(Math.max(1, digits))} ${unit}`,
          })),
          ...CLASSES.map(([name, field]) => ({
            name,
            kind: 'number' as const,
            cell: ({ [field]: seconds }: (typeof rows)[number]) => duration(seconds * 1000),
          })),
        ]}
      />
    </Panel>
  );
}

const VALUES = [
  ['Mean', 'mean'],
  ['Minimum', 'minimum'],
  ['Maximum', 'maximum'],
] as const;
const CLASSES = [
  ['Excellent', 'excellent_s'],
  ['Acceptable', 'acceptable_s'],
  ['Unfit', 'unfit_s'],
] as const;

/** Explanations of the less familiar types. */
const HINTS: Readonly<Partial<Record<Type, string>>> = {
  hrv: 'RMSSD over 60 s.',
  rhythm: 'Probability that the beats of 60 s are irregular as in atrial fibrillation: no diagnosis.',
};

/** All values of a probability, %, with room for a line at either end. */
const PROBABILITY = [-6, 106] as const;
const NOT_DRAWN = ' (some are not drawn: zoom in to see all)';

interface ChartProps {
  readonly series: Series;
  readonly onZoom: (from: number, to: number) => void;
}

function ValueChart({ series, onZoom }: ChartProps) {
  const { name, digits, color } = TYPES[series.type];
  const lines = useMemo((): Line[] => {
    const values = series.value.map((value, i) => (series.quality[i] === 'unfit' ? null : value));
    return [{ label: `${name}, ${series.unit}`, color, values }];
  }, [series, name, color]);
  const bands = series.quality.map((quality) => quality && QUALITY[quality]);
  return (
    <Panel
      title={name}
      unit={series.unit}
      note={`${count(series.readings)} readings${series.thinned ? NOT_DRAWN : ''} · ${series.algorithms.join(', ')}`}
    >
      <Chart
        label={described(series)}
        t={series.t}
        lines={lines}
        bands={bands}
        height={170}
        digits={Math.max(1, digits)}
        group="session"
        onZoom={onZoom}
        {...(series.type === 'rhythm' && { range: PROBABILITY })}
      />
      <p class="key">
        <span class="good">excellent</span>
        <span class="warn">acceptable</span>
        <span class="bad">unfit: no line</span>
        <span class="mute">Drag along the chart to zoom.</span>
        {HINTS[series.type] && <span class="mute">{HINTS[series.type]}</span>}
      </p>
    </Panel>
  );
}

/** The chart in words. */
function described({ type, value, quality, unit }: Series): string {
  const fit = value.filter((each, i): each is number => each !== null && quality[i] !== 'unfit');
  const { name, digits } = TYPES[type];
  if (fit.length === 0) return `${name} over time: all readings are unfit`;
  const span = `${Math.min(...fit).toFixed(digits)} to ${Math.max(...fit).toFixed(digits)} ${unit}`;
  return `${name} over time: ${span}, last ${fit.at(-1)?.toFixed(digits)} ${unit}`;
}

const SOURCES = { ecg: 'ECG', ppg: 'light' } as const;

interface BeatsProps {
  readonly id: string;
  readonly span: Span | null;
  readonly isOpen: boolean;
  readonly onZoom: ChartProps['onZoom'];
}

/** The intervals between beats of each source: over time, and each against the one before. */
function Beats({ id, span, isOpen, onZoom }: BeatsProps) {
  const { data } = useLoad<Tachogram[]>(
    `/sessions/${id}/beats${query({ from: span?.from, to: span?.to })}`,
    isOpen && !span ? BEATS_MS : undefined,
  );
  return (
    <>
      {data?.map((each) => (
        <BeatCharts key={each.source} tachogram={each} onZoom={onZoom} />
      ))}
    </>
  );
}

function BeatCharts({ tachogram, onZoom }: { readonly tachogram: Tachogram; readonly onZoom: ChartProps['onZoom'] }) {
  const { source, t, rr, former, next, intervals, thinned } = tachogram;
  const from = SOURCES[source];
  const lines = useMemo((): Line[] => [{ label: 'Interval, ms', color: '--hrv', values: rr }], [rr]);
  const note = `${count(intervals)} intervals${thinned ? NOT_DRAWN : ''}`;
  return (
    <div class="beats">
      <Panel title={`Intervals between beats, from ${from}`} unit="ms" note={note}>
        <Chart
          {...{ label: `Intervals between beats from ${from} over time: ${note}`, t, lines, height: 260, digits: 0 }}
          {...{ group: 'session', onZoom }}
        />
      </Panel>
      <Panel title="Poincaré plot" note="each interval against the one before, ms">
        <Scatter
          {...{ label: `Poincaré plot of ${count(former.length)} pairs of intervals`, x: former, y: next }}
          {...{ height: 260, color: '--hrv' }}
        />
      </Panel>
    </div>
  );
}

const MEASURES = [
  ['confidence', 'Confidence', [0, 1], 2],
  ['coverage', 'Coverage', [0, 1], 2],
  ['latency', 'Delay', null, 0],
] as const;

/** Confidence, coverage and latency of the readings. */
function Measures({ series, onZoom }: { readonly series: readonly Series[]; readonly onZoom: ChartProps['onZoom'] }) {
  const t = useMemo(() => [...new Set(series.flatMap((each) => each.t))].sort((a, b) => a - b), [series]);
  const charts = useMemo(
    () =>
      MEASURES.map(([field, name, range, digits]) => {
        const [unit, size] = field === 'latency' ? unitOf(series.flatMap((each) => each.latency)) : ['', 1];
        const lines = series.map((each): Line => {
          const at = new Map(each.t.map((time, i) => [time, scaled(each[field][i] ?? null, size)]));
          return { label: TYPES[each.type].name, color: TYPES[each.type].color, values: held(t, at) };
        });
        return { name: unit === '' ? name : `${name}, ${unit}`, range, digits: size === 1 ? digits : 1, lines };
      }),
    [series, t],
  );
  return (
    <div class="three">
      {charts.map(({ name, range, digits, lines }) => (
        <Panel key={name} title={name}>
          <Chart
            {...{ label: `${name} over time`, t, lines, height: 150, digits, group: 'session', onZoom }}
            {...(range && { range })}
          />
        </Panel>
      ))}
    </div>
  );
}

const UNITS = [
  ['days', 86_400_000],
  ['hours', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
] as const;

/** The largest unit of which the longest delay has at least ten; otherwise ms. */
function unitOf(delays: readonly (number | null)[]): readonly [name: string, ms: number] {
  const longest = delays.reduce<number>((most, delay) => Math.max(most, Math.abs(delay ?? 0)), 0);
  return UNITS.find(([, ms]) => longest >= 10 * ms) ?? ['ms', 1];
}

function scaled(value: number | null, size: number): number | null {
  return value === null ? null : value / size;
}

/** The values of a series at common times: between two of its own times its value stays, and in a gap it has none. */
function held(t: readonly number[], at: ReadonlyMap<number, number | null>): (number | null)[] {
  let last: number | null = null;
  return t.map((time) => {
    const value = at.get(time);
    if (value !== undefined) last = value;
    return last;
  });
}
