import type { InsightType } from '@device-insights/gateway/offline';
import { type Answer, type Reference, TRUSTED, toleranceOf } from './score.js';

/**
 * Draws a recording's readings of one type against its reference, as SVG: shows the wrong readings, and whether they
 * were trusted.
 */

/** Size in pixels, and the space for the axes' labels. */
const [WIDTH, HEIGHT, LEFT, TOP, BOTTOM] = [1000, 300, 45, 30, 25];
/** Colours of the reference and its tolerance, and of correct, wrong and untrusted readings. */
const COLOURS = { reference: '#222', tolerance: '#e4e4e4', right: '#2a8f4f', wrong: '#d62728', doubted: '#c9a227' };

/** @returns null if the reference has no values of that type */
export function draw({ id, windows }: Reference, answers: readonly Answer[], type: InsightType): string | null {
  const truth = windows.flatMap(({ end, values: { [type]: value } }) => (value === undefined ? [] : [{ end, value }]));
  if (truth.length === 0) return null;
  const readings = answers.filter((answer) => answer.type === type).map((a) => ({ ...a, end: a.actual_end / 1000 }));
  const scale = scaleOf(truth, readings);
  const dots = readings.map(({ end, value, confidence }) => {
    const near = truth.find((window) => Math.abs(window.end - end) <= 1);
    const wrong = near !== undefined && Math.abs(near.value - value) > toleranceOf(type, near.value);
    const colour = confidence < TRUSTED ? COLOURS.doubted : wrong ? COLOURS.wrong : COLOURS.right;
    return `<circle cx="${scale.x(end)}" cy="${scale.y(value)}" r="2" fill="${colour}"><title>${end} s: ${value}, confidence ${confidence}</title></circle>`;
  });
  const line = truth.map(({ end, value }) => `${scale.x(end)},${scale.y(value)}`).join(' ');
  const above = truth.map(({ end, value }) => `${scale.x(end)},${scale.y(value + toleranceOf(type, value))}`);
  const below = truth.map(({ end, value }) => `${scale.x(end)},${scale.y(value - toleranceOf(type, value))}`);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="11">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>`,
    `<polygon points="${[...above, ...below.toReversed()].join(' ')}" fill="${COLOURS.tolerance}"/>`,
    ...scale.grid,
    `<polyline points="${line}" fill="none" stroke="${COLOURS.reference}"/>`,
    ...dots,
    legend(id, type),
    '</svg>\n',
  ].join('\n');
}

interface Point {
  readonly end: number;
  readonly value: number;
}

interface Scale {
  readonly x: (end: number) => string;
  readonly y: (value: number) => string;
  readonly grid: readonly string[];
}

function scaleOf(truth: readonly Point[], readings: readonly Point[]): Scale {
  const points = [...truth, ...readings];
  const values = points.map(({ value }) => value);
  const [low, high] = [Math.min(...values) - 3, Math.max(...values) + 3];
  const last = Math.max(...points.map(({ end }) => end));
  const x = (end: number) => (LEFT + ((WIDTH - LEFT - 10) * end) / last).toFixed(1);
  const y = (value: number) => (HEIGHT - BOTTOM - ((HEIGHT - TOP - BOTTOM) * (value - low)) / (high - low)).toFixed(1);
  const across = ticks(low, high).map(
    (v) =>
      `<path d="M${LEFT} ${y(v)}H${WIDTH - 10}" stroke="#ccc" stroke-width=".5"/><text x="8" y="${y(v)}" dy="4">${v}</text>`,
  );
  const along = ticks(0, last).map((s) => `<text x="${x(s)}" y="${HEIGHT - 8}" text-anchor="middle">${s} s</text>`);
  return { x, y, grid: [...across, ...along] };
}

/** Four to ten round numbers between two numbers. */
function ticks(low: number, high: number): number[] {
  const step = [1, 2, 5, 10, 20, 50, 100, 200, 500].find((s) => (high - low) / s <= 10) ?? 1000;
  const first = Math.ceil(low / step);
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, i) => (first + i) * step);
}

function legend(id: string, type: InsightType): string {
  const entries = [
    ['reference and tolerance', COLOURS.reference],
    ['trusted, in tolerance', COLOURS.right],
    ['trusted, out of it', COLOURS.wrong],
    ['not trusted', COLOURS.doubted],
  ].map(([text, colour]) => `<tspan dx="18" fill="${colour}">● ${text}</tspan>`);
  return `<text x="${LEFT}" y="18"><tspan font-weight="bold">${id} ${type}</tspan>${entries.join('')}</text>`;
}
