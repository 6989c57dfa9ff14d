import { valueAt } from '../math/quartic.js';
import { around, energy, type Lead, type Level, match, project, TEMPLATE_HALF, unit } from './features.js';

/** Measures of a beat, in plain double precision: the twin of assembly/ecg/beat_measure.ts. */

const SNAP = 6;
const FIRST_SNAP = 8;
const TEMPLATE_BEATS = 3;

export interface LeadState {
  readonly y: Lead;
  readonly broad: Lead;
  readonly energy: Level;
  readonly match: Level;
  readonly width: Level;
  template: number[];
  learnt: number;
  strange: number;
  /** Position of the R peak in the template. */
  offset: number;
}

/** Grid samples of a lead between two beats, exclusive. */
interface Between {
  readonly from: number;
  readonly to: number;
}

export function isMatched(l: LeadState): boolean {
  return l.learnt >= TEMPLATE_BEATS;
}

/** Learns from the beat at `sample` of one lead, and returns the place of its R peak. */
export function measureLead(l: LeadState, sample: number, wide: boolean, between: Between): number {
  const near = around(sample, SNAP).map((c) => energy(l.y, c));
  if (near.some(Number.isNaN)) return sample + l.offset;
  const noise = (feature: Lead) => greatest(samplesBetween(between).map(feature), -1);
  const breadth = (c: number) => energy(l.broad, c);
  const broad = around(sample, SNAP).map(breadth);
  if (!broad.some(Number.isNaN)) l.width.learn(greatest(broad, -1), noise(breadth));
  if (wide) return highest(sample, FIRST_SNAP, (c) => Math.abs(l.broad(c)));
  l.energy.learn(
    greatest(near, -1),
    noise((c) => energy(l.y, c)),
  );
  if (isMatched(l)) return measureMatch(l, sample, noise);
  const peak = highest(sample, FIRST_SNAP, (c) => Math.abs(l.y(c)));
  learnTemplate(l, peak, 0);
  return peak;
}

function measureMatch(l: LeadState, sample: number, noise: (feature: Lead) => number): number {
  const template = l.template;
  const feature = (c: number) => match(l.y, template, c);
  const peak = highest(sample, SNAP, feature);
  if (l.match.beat > 0) l.match.learn(feature(peak), noise(feature));
  else l.match.begin(feature(peak), 0.3 * feature(peak));
  const top = highestPlace((c) => project(l.y, template, c).projection, peak);
  const refined = peak + top + l.offset;
  if (l.learnt < TEMPLATE_BEATS + 2 || project(l.y, template, peak).share > 0.8) {
    learnTemplate(l, peak, top);
    l.strange = 0;
  } else if (++l.strange > 10 && l.energy.ratio > 4) {
    l.learnt = 0;
    l.strange = 0;
    l.match.begin(0, 0);
  }
  return refined;
}

function learnTemplate(l: LeadState, sample: number, top: number): void {
  const shape = unit(around(sample, TEMPLATE_HALF).map((c) => valueAt(l.y, c, top)));
  if (shape.some(Number.isNaN)) return;
  const rate = Math.max(0.1, 1 / (l.learnt + 1));
  l.template = unit(l.template.map((t, i) => (1 - rate) * (l.learnt > 0 ? t : 0) + rate * (shape[i] ?? 0)));
  l.learnt++;
  const size = (i: number) => Math.abs(l.template[i] ?? 0);
  const at = highest(TEMPLATE_HALF, SNAP, size);
  const sign = Math.sign(l.template[at] ?? 0);
  l.offset = at - TEMPLATE_HALF + highestPlace((i) => sign * (l.template[i] ?? 0), at);
}

function samplesBetween({ from, to }: Between): number[] {
  return Array.from({ length: Math.max(0, to - from - 1) }, (_, i) => from + 1 + i);
}

/** Largest value, except NaN. */
export function greatest(values: readonly number[], least: number): number {
  return values.reduce((top, v) => (v > top ? v : top), least);
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
