import uPlot from 'uplot';
import { type Look, usePlot } from './plot.js';

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
  const { place } = usePlot(
    height,
    (root, look) => new uPlot(optionsOf(height, look, color, rangeOf([...x, ...y])), [[...x], [...y]], root),
    [x, y, color],
  );
  return <div class="chart" ref={place} role="img" aria-label={label} />;
}

function optionsOf(height: number, { width, color, axis }: Look, name: string, range: [number, number]): uPlot.Options {
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
