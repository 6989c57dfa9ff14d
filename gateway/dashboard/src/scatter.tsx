import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

interface Props {
  /** Description for screen readers. */
  readonly label: string;
  /** Ascending. */
  readonly x: readonly number[];
  readonly y: readonly number[];
  readonly height: number;
  /** Name of the theme's colour. */
  readonly color: string;
}

/** Points by two values of one kind, with the line on which both are equal. */
export function Scatter({ label, x, y, height, color }: Props) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const root = place.current;
    if (!root) return;
    let chart: uPlot | null = null;
    const make = () => {
      chart?.destroy();
      chart = new uPlot(optionsOf(root.clientWidth, height, color, rangeOf([...x, ...y])), [[...x], [...y]], root);
    };
    make();
    const resize = new ResizeObserver(() => chart?.setSize({ width: root.clientWidth, height }));
    resize.observe(root);
    const dark = matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', make);
    return () => {
      resize.disconnect();
      dark.removeEventListener('change', make);
      chart?.destroy();
    };
  }, [x, y, height, color]);
  return <div class="chart" ref={place} role="img" aria-label={label} />;
}

function optionsOf(width: number, height: number, name: string, range: [number, number]): uPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const color = (each: string) => style.getPropertyValue(each).trim();
  const axis = {
    stroke: color('--mute'),
    grid: { stroke: color('--line'), width: 1 },
    ticks: { stroke: color('--line'), width: 1, size: 4 },
    font: '12px system-ui, sans-serif',
  };
  return {
    width,
    height,
    legend: { show: false },
    cursor: { drag: { x: false, y: false } },
    scales: { x: { time: false, range }, y: { range } },
    axes: [axis, axis],
    series: [{}, { paths: () => null, points: { show: true, size: 4, width: 0, fill: color(name) } }],
    hooks: { drawClear: [(plot) => drawDiagonal(plot, range, color('--mute'))] },
  };
}

/** The range of both axes, with some room. */
function rangeOf(values: readonly number[]): [number, number] {
  const [least, most] = values.reduce(
    ([low, high], each) => [Math.min(low, each), Math.max(high, each)],
    [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
  );
  const room = Math.max(20, (most - least) * 0.1);
  return values.length === 0 ? [0, 1] : [least - room, most + room];
}

function drawDiagonal(plot: uPlot, [least, most]: readonly [number, number], color: string): void {
  const { ctx } = plot;
  ctx.save();
  ctx.strokeStyle = color;
  ctx.setLineDash([4, 4]);
  ctx.beginPath();
  ctx.moveTo(plot.valToPos(least, 'x', true), plot.valToPos(least, 'y', true));
  ctx.lineTo(plot.valToPos(most, 'x', true), plot.valToPos(most, 'y', true));
  ctx.stroke();
  ctx.restore();
}
