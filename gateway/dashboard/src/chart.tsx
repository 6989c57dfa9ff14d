import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { clock, day } from './format.js';
import { type Look, usePlot } from './plot.js';

/** A line of a chart; null values are gaps. */
export interface Line {
  readonly label: string;
  /** Name of the theme's colour, such as `--hr`. */
  readonly color: string;
  readonly values: readonly (number | null)[];
}

interface Props {
  /** Description for screen readers. */
  readonly label: string;
  /** Times, ms. */
  readonly t: readonly number[];
  readonly lines: readonly Line[];
  readonly height: number;
  readonly digits?: number;
  /** One colour for each time, drawn as a strip below the lines: the name of a theme's colour, or null. */
  readonly bands?: readonly (string | null)[];
  readonly range?: readonly [number, number];
  /** Length of the time axis up to the newest time, s; default: all times. */
  readonly seconds?: number;
  /** Charts of one group move their cursors together. */
  readonly group?: string;
  /** Called when the user selects a time range, ms. */
  readonly onZoom?: (from: number, to: number) => void;
}

const BAND_PX = 4;

/** A chart over time. Drag along it to zoom; the arrow keys move its cursor. */
export function Chart(props: Props) {
  const now = useRef(props);
  now.current = props;
  const form = props.lines.map(({ label, color }) => `${label} ${color}`).join();
  // A change of data alone updates the chart (below); any other change makes a new one.
  const { place, plot } = usePlot(
    props.height,
    (root, look) => new uPlot(optionsOf(now, look), dataOf(now.current), root),
    [form, props.group],
  );
  useEffect(() => plot.current?.setData(dataOf(props)), [props.t, props.lines]);
  const [at, setAt] = useState<number | null>(null);
  const last = props.t.length - 1;
  const current = at === null ? last : Math.min(at, last);
  const move = (event: KeyboardEvent) => {
    const next = moved(event.key, current, last);
    if (next === null) return;
    event.preventDefault();
    setAt(next);
    const left = plot.current?.valToPos((props.t[next] ?? 0) / 1000, 'x') ?? 0;
    plot.current?.setCursor({ left, top: 0 });
  };
  return (
    <div
      class="chart"
      ref={place}
      role="slider"
      tabIndex={0}
      aria-label={props.label}
      aria-valuemin={0}
      aria-valuemax={Math.max(0, last)}
      aria-valuenow={Math.max(0, current)}
      aria-valuetext={said(props, current)}
      onKeyDown={move}
    />
  );
}

/** The point to which a key leads; null for another key. */
function moved(key: string, from: number, last: number): number | null {
  const steps: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 };
  if (key === 'Home') return 0;
  if (key === 'End') return last;
  const step = steps[key];
  return step === undefined ? null : Math.min(last, Math.max(0, from + step));
}

/** A point of the chart in words. */
function said({ t, lines, digits = 0 }: Props, i: number): string {
  const time = t[i];
  if (time === undefined) return 'no data';
  const values = lines.map(({ label, values }) => `${label} ${values[i]?.toFixed(digits) ?? 'none'}`);
  return `${clock(time)}: ${values.join(', ')}`;
}

function dataOf({ t, lines }: Props): uPlot.AlignedData {
  return [t.map((ms) => ms / 1000), ...lines.map(({ values }) => [...values])] as uPlot.AlignedData;
}

function optionsOf(now: { readonly current: Props }, { width, color, axis }: Look): uPlot.Options {
  const { lines, height, digits = 0, range, seconds, group } = now.current;
  const text = (_: uPlot, value: number | null) => (value === null ? '–' : value.toFixed(digits));
  return {
    width,
    height,
    legend: { show: lines.length > 1 },
    cursor: {
      ...(group !== undefined && { sync: { key: group } }),
      drag: { x: true, y: false, setScale: false },
      points: { size: 6 },
    },
    scales: {
      x: seconds === undefined ? {} : { range: (_, __, newest) => [newest - seconds, newest] },
      y: range ? { range: [range[0], range[1]] } : { range: padded },
    },
    axes: [
      { ...axis, space: 70, size: 44, values: (_, splits, __, ___, step) => labels(splits, step) },
      { ...axis, size: (_, values) => Math.max(40, 14 + 7.2 * Math.max(0, ...(values ?? []).map((v) => v.length))) },
    ],
    series: [
      { value: (_: uPlot, at: number | null) => (at === null ? '–' : clock(at * 1000)) },
      ...lines.map(({ label, color: name }) => ({
        label,
        stroke: color(name),
        width: 1.5,
        spanGaps: false,
        points: { show: false },
        value: text,
      })),
    ],
    hooks: {
      drawClear: [(plot) => drawBands(plot, now.current, color)],
      setSelect: [(plot) => zoom(plot, now.current)],
    },
  };
}

/** Labels of the time axis: the first one of each day has the date below it. */
function labels(splits: readonly number[], step: number): string[] {
  return splits.map((at, i) => {
    const date = day(at * 1000);
    const isNew = step < 86_400 && (i === 0 || date !== day((splits[i - 1] ?? 0) * 1000));
    return isNew ? `${moment(at, step)}\n${date}` : moment(at, step);
  });
}

/** A time on the axis, s; `step`, the distance of two labels, decides whether it is written as date, minutes or seconds. */
function moment(at: number, step: number): string {
  const time = new Date(at * 1000);
  if (step >= 86_400) return time.toLocaleDateString(undefined, { month: 'short', day: 'numeric' });
  const seconds = step < 60 ? ({ second: '2-digit' } as const) : {};
  return time.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit', ...seconds });
}

/** The y range with room above and below; at least 4 units, so that noise does not fill the chart. */
function padded(_: uPlot, least: number | null, most: number | null): [number, number] {
  if (least === null || most === null) return [0, 1];
  const room = Math.max(2, (most - least) * 0.12);
  return [least - room, most + room];
}

function zoom(plot: uPlot, { onZoom }: Props): void {
  const { left, width } = plot.select;
  if (width < 3) return;
  const [from, to] = [plot.posToVal(left, 'x') * 1000, plot.posToVal(left + width, 'x') * 1000];
  plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  onZoom?.(Math.floor(from), Math.ceil(to));
}

/** A strip below the lines, which shows the quality of each reading by colour. */
function drawBands(plot: uPlot, { bands, t }: Props, color: (name: string) => string): void {
  if (!bands) return;
  const { ctx, bbox } = plot;
  const high = BAND_PX * devicePixelRatio;
  ctx.save();
  for (let i = 0; i < bands.length; ) {
    let end = i;
    while (end + 1 < bands.length && bands[end + 1] === bands[i]) end++;
    const name = bands[i];
    if (name) {
      const from = plot.valToPos((t[i] ?? 0) / 1000, 'x', true);
      const to = plot.valToPos((t[Math.min(end + 1, t.length - 1)] ?? 0) / 1000, 'x', true);
      ctx.fillStyle = color(name);
      ctx.fillRect(Math.max(bbox.left, from), bbox.top + bbox.height - high, Math.max(1, to - from), high);
    }
    i = end + 1;
  }
  ctx.restore();
}
