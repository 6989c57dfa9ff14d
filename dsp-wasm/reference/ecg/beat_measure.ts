import { valueAt } from '../math/quartic.js';
import { around, energy, type Lead, type Level, match, project, TEMPLATE_HALF, unit } from './features.js';

/** Measures of a beat, in plain double precision: the twin of assembly/ecg/beat_measure.ts. */

const SNAP = 6;
const FIRST_SNAP = 8;
const TEMPLATE_BEATS = 3;
const TEMPLATES = 3;

/** The mean shape of one kind of beats. */
export interface Template {
  readonly shape: readonly number[];
  readonly learnt: number;
  readonly newest: number;
  /** Position of the R peak in it. */
  readonly offset: number;
}

export interface LeadState {
  readonly y: Lead;
  readonly broad: Lead;
  readonly energy: Level;
  readonly match: Level;
  readonly width: Level;
  /** At most three. */
  templates: readonly Template[];
}

/** Grid samples of a lead between two beats, exclusive. */
interface Between {
  readonly from: number;
  readonly to: number;
}

export function isMatched(l: LeadState): boolean {
  return l.templates.some(isLearnt);
}

const isLearnt = (template: Template) => template.learnt >= TEMPLATE_BEATS;

/** Match with the best template. */
export function bestMatch(l: LeadState, sample: number): number {
  return greatest(
    l.templates.filter(isLearnt).map(({ shape }) => match(l.y, shape, sample)),
    Number.NaN,
  );
}

/** Learns from the beat at `sample` of one lead, the session's `number`-th, and returns the sample of its R peak. */
export function measureLead(l: LeadState, sample: number, wide: boolean, between: Between, number: number): number {
  const near = around(sample, SNAP).map((c) => energy(l.y, c));
  if (near.some(Number.isNaN)) return sample;
  const noise = (feature: Lead) => greatest(samplesBetween(between).map(feature), -1);
  const breadth = (c: number) => energy(l.broad, c);
  const broad = around(sample, SNAP).map(breadth);
  if (!broad.some(Number.isNaN)) l.width.learn(greatest(broad, -1), noise(breadth));
  if (!wide) {
    l.energy.learn(
      greatest(near, -1),
      noise((c) => energy(l.y, c)),
    );
    if (isMatched(l)) learnMatch(l, sample, noise);
  }
  return learnShape(l, sample, number);
}

function learnMatch(l: LeadState, sample: number, noise: (feature: Lead) => number): void {
  const feature = (c: number) => bestMatch(l, c);
  const top = feature(highest(sample, SNAP, feature));
  if (Number.isNaN(top)) return;
  if (l.match.beat > 0) l.match.learn(top, noise(feature));
  else l.match.begin(top, 0.3 * top);
}

/** Learns the beat into the template that it is like, otherwise as a new kind in place of the oldest. */
function learnShape(l: LeadState, sample: number, number: number): number {
  const tops = l.templates.map((template) => {
    const at = highest(sample, SNAP, (c) => match(l.y, template.shape, c));
    return { template, at, value: match(l.y, template.shape, at) };
  });
  const best = tops.reduce<(typeof tops)[number] | undefined>((a, b) => (b.value > (a?.value ?? 0) ? b : a), undefined);
  if (best && project(l.y, best.template.shape, best.at).share > 0.8) {
    const { template, at } = best;
    const top = highestPlace((c) => project(l.y, template.shape, c).projection, at);
    l.templates = l.templates.map((one) => (one === template ? learnt(l, template, at, top, number) : one));
    return at + top + template.offset;
  }
  const peak = highest(sample, FIRST_SNAP, (c) => Math.abs(l.y(c)));
  const kept = [...l.templates].sort((a, b) => b.newest - a.newest).slice(0, TEMPLATES - 1);
  const empty = { shape: new Array<number>(2 * TEMPLATE_HALF + 1).fill(0), learnt: 0, newest: 0, offset: 0 };
  l.templates = [...kept, learnt(l, empty, peak, 0, number)];
  return peak;
}

function learnt(l: LeadState, template: Template, sample: number, top: number, number: number): Template {
  const beat = unit(around(sample, TEMPLATE_HALF).map((c) => valueAt(l.y, c, top)));
  if (beat.some(Number.isNaN)) return { ...template, newest: number };
  const rate = Math.max(0.1, 1 / (template.learnt + 1));
  const shape = unit(template.shape.map((t, i) => (1 - rate) * t + rate * (beat[i] ?? 0)));
  const at = highest(TEMPLATE_HALF, SNAP, (i) => Math.abs(shape[i] ?? 0));
  const sign = Math.sign(shape[at] ?? 0);
  const offset = at - TEMPLATE_HALF + highestPlace((i) => sign * (shape[i] ?? 0), at);
  return { shape, learnt: template.learnt + 1, newest: number, offset };
}

function samplesBetween({ from, to }: Between): number[] {
  return Array.from({ length: Math.max(0, to - from - 1) }, (_, i) => from + 1 + i);
}

/** Largest value, except NaN. */
export function greatest(values: readonly number[], least: number): number {
  return values.reduce((top, v) => (v > top || Number.isNaN(top) ? v : top), least);
}

/** Grid sample of the largest value within `half`. */
function highest(sample: number, half: number, feature: Lead): number {
  return around(sample, half).reduce((top, c) => (feature(c) > feature(top) ? c : top), sample);
}

/** Where the values about the k-th are highest, on the polynomial through five of them, from -1 to 1 in thousandths of a grid sample. */
function highestPlace(feature: Lead, k: number): number {
  return Array.from({ length: 2001 }, (_, i) => i / 1000 - 1).reduce(
    (best, t) => (valueAt(feature, k, t) > valueAt(feature, k, best) ? t : best),
    0,
  );
}
