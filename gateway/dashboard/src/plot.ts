import { type Inputs, useEffect, useRef } from 'preact/hooks';
import type uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

/** What all charts have in common: the width of their element, the theme's colours, and the look of an axis. */
export interface Look {
  readonly width: number;
  /** The colour that the theme has for a name such as `--hr`. */
  readonly color: (name: string) => string;
  readonly axis: uPlot.Axis;
}

/** Draws a chart into the element at `place`: another one when an input or the theme changes, in the element's width. */
export function usePlot(height: number, make: (root: HTMLElement, look: Look) => uPlot, inputs: Inputs) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  useEffect(() => {
    const root = place.current;
    if (!root) return;
    const draw = () => {
      plot.current?.destroy();
      plot.current = make(root, lookOf(root));
    };
    draw();
    const resize = new ResizeObserver(() => plot.current?.setSize({ width: root.clientWidth, height }));
    resize.observe(root);
    const dark = matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', draw);
    return () => {
      resize.disconnect();
      dark.removeEventListener('change', draw);
      plot.current?.destroy();
      plot.current = null;
    };
  }, [height, ...inputs]);
  return { place, plot };
}

function lookOf(root: HTMLElement): Look {
  const style = getComputedStyle(document.documentElement);
  const color = (name: string) => style.getPropertyValue(name).trim();
  const line = { stroke: color('--line'), width: 1 };
  const axis = { stroke: color('--mute'), grid: line, ticks: { ...line, size: 4 }, font: '12px system-ui, sans-serif' };
  return { width: root.clientWidth, color, axis };
}
