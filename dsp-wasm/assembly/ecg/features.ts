import { copyGrid } from '../grid/window';
import { Channel } from '../memory/channel';
import { Lead, TEMPLATE, TEMPLATES } from '../memory/ecg_state';
import { Row, rowAt, rowOf } from '../memory/row';
import { KINDS } from './tuning';

/**
 * Three features of a lead, which show at each instant how much it looks like a QRS complex:
 *
 * energy: mean of |y| over 86 ms, where y is the lead filtered by the second derivative of a Gaussian (a wavelet with its
 *   peak response at 22 Hz, cf. Martinez 2004), so that T waves, baseline wander and electrode motion are far weaker than
 *   the QRS. It detects most shapes of beats without a template;
 * match: projection of y on the best template of the session's own kinds of beats, times the square of its share of y's norm.
 *   Unlike energy, it tells a beat from an artefact of the same size (Kaplan 1990);
 * width: the same energy at 8 Hz, the band of ventricular ectopic beats (Thakor 1984) and also of T waves.
 *
 * All kernels are symmetric, so a feature has no delay. A feature is NaN if one of its grid samples is missing, so that
 * filters do not ring at a gap.
 */

/** Half widths, grid samples: of the wavelets, of the averaging of energies, of the template (100 ms: the QRS without the T wave). */
const SHARPEN_HALF: i32 = 5;
const BROADEN_HALF: i32 = 12;
const BOX_HALF: i32 = 5;
export const TEMPLATE_HALF: i32 = 13;
/** A feature uses the grid samples up to REACH before and after its own. */
export const REACH: i32 = 18;
const BOX_SCALE: f32 = 1.0 / 11.0;
/** Rounding errors of a feature, in parts of the lead's level. */
const ROUNDING: f32 = 1e-5;

// Loaded from memory, because the engine would build a constant vector again in every iteration.

/** The sharpening wavelet from its centre on: (1 - u^2) exp(-u^2 / 2) at u = k / 1.3096, less its mean, to norm 1. */
const SHARP: usize = memory.data<f32>([0.75782472, 0.23597287, -0.31469491, -0.23353414, -0.05954859, -0.00710758]);

/** All bits of a float but the sign. */
const MAGNITUDE: usize = memory.data<u32>([0x7fffffff]);

/** The broad wavelet, u = k / 3.6013, from its centre on. */
const BROAD: usize = memory.data<f32>([
  0.45600869, 0.404811, 0.26985785, 0.09780085, -0.05871918, -0.16280683, -0.20367117, -0.19308817, -0.15359878,
  -0.10665258, -0.06600007, -0.03694008, -0.0189972,
]);

/** Most grid samples of a stretch, with the neighbours that their features need. */
const MOST: i32 = 576;

/** The features of a stretch of grid samples, and what they were computed from. Indices count from its first grid sample. */
@unmanaged
export class Stretch {
  /** First grid sample of the stretch, and the one after its last. */
  from: i32;
  to: i32;
  /** The largest feature that rounding errors can cause for a flat line at the lead's level. */
  rounding: f32;
  energy: Row<f32> = rowOf<f32>(MOST);
  width: Row<f32> = rowOf<f32>(MOST);
  match: Row<f32> = rowOf<f32>(MOST);
  /** Projection on the template that matches best. */
  projection: Row<f32> = rowOf<f32>(MOST);
  /** The lead without its level, from REACH before the stretch on. */
  raw: Row<f32> = rowOf<f32>(MOST);
  /** The sharp wavelet's response, from TEMPLATE_HALF before the stretch on. */
  sharpened: Row<f32> = rowOf<f32>(MOST);
  /** The broad one's, from BOX_HALF before it on. */
  broadened: Row<f32> = rowOf<f32>(MOST);
  /** Kind of the template that matches best, plus 1. */
  kinds: Row<i32> = rowOf<i32>(MOST);

  leveled(i: i32): f32 {
    return this.raw[i + REACH];
  }

  sharp(i: i32): f32 {
    return this.sharpened[i + TEMPLATE_HALF];
  }

  broad(i: i32): f32 {
    return this.broadened[i + BOX_HALF];
  }

  /** The sharpened signal at the places of a template whose centre is at `i`. */
  shapeAt(i: i32): Row<f32> {
    return rowAt<f32>(this.sharpened.at(i));
  }
}

/** Features of up to a second, at which beats are looked for, and from one beat to the next. */
export const GROUP = new Stretch();
export const BETWEEN = new Stretch();
/** A row of a stretch to work in. */
export const ROW = rowOf<f32>(MOST);

/**
 * Computes energy and width of `count` grid samples from `from` on, of which none at or past `limit` is used.
 * @param magnitudes a row of MOST values to work in
 */
export function computeFeatures(
  channel: Channel,
  sub: i32,
  from: i32,
  count: i32,
  limit: i32,
  magnitudes: Row<f32>,
  to: Stretch,
): void {
  const rounded = (count + 7) & ~7; // two vectors at a time, because sums wait for each other
  to.from = from;
  to.to = from + count;
  copyGrid(channel, sub, from - REACH, rounded + 2 * REACH, limit, to.raw.at(0));
  to.rounding = ROUNDING * abs<f32>(levelOut(to.raw, rounded + 2 * REACH));
  convolve(to.raw.at(REACH - TEMPLATE_HALF), SHARP, SHARPEN_HALF, to.sharpened, rounded + 2 * TEMPLATE_HALF);
  convolve(to.raw.at(REACH - BOX_HALF), BROAD, BROADEN_HALF, to.broadened, rounded + 2 * BOX_HALF);
  boxEnergy(to.sharpened.at(TEMPLATE_HALF - BOX_HALF), to.energy, magnitudes, rounded);
  boxEnergy(to.broadened.at(0), to.width, magnitudes, rounded);
}

/** Whether the lead has a template. */
export function isMatched(lead: Lead): bool {
  for (let k = 0; k < TEMPLATES; k++) if (lead.templates[k].learnt >= KINDS.ENOUGH) return true;
  return false;
}

/** Computes match and projection of `count` values of the stretch from the `at`-th on, where the lead has a template: of the best one. */
export function matchTemplates(lead: Lead, at: i32, count: i32, to: Stretch): void {
  let isFirst = true;
  for (let k = 0; k < TEMPLATES; k++) {
    const template = lead.templates[k];
    if (template.learnt < KINDS.ENOUGH) continue;
    matchTemplate(to, at, count, template.shape.at(0), k, isFirst);
    isFirst = false;
  }
}

/** Subtracts the first grid sample from all, which keeps the rounding errors of the wavelets small; returns it. */
function levelOut(raw: Row<f32>, count: i32): f32 {
  const first = raw[0];
  const level: f32 = isNaN(first) ? 0 : first;
  for (let x = raw.at(0); x < raw.at(count); x += 16) {
    v128.store(x, f32x4.sub(v128.load(x), f32x4.splat(level)));
  }
  return level;
}

/** Filters by a symmetric kernel, given from its centre to `half` grid samples beside it. The first value is about the one at `centre`. */
function convolve(centre: usize, kernel: usize, half: i32, to: Row<f32>, count: i32): void {
  for (let i = 0; i < count; i += 8) {
    const middle = v128.load32_splat(kernel);
    let a = f32x4.mul(v128.load(centre), middle);
    let b = f32x4.mul(v128.load(centre, 16), middle);
    for (let k: usize = 4; k <= (<usize>half) << 2; k += 4) {
      const w = v128.load32_splat(kernel + k);
      a = f32x4.add(a, f32x4.mul(f32x4.add(v128.load(centre - k), v128.load(centre + k)), w));
      b = f32x4.add(b, f32x4.mul(f32x4.add(v128.load(centre - k, 16), v128.load(centre + k, 16)), w));
    }
    v128.store(to.at(i), a);
    v128.store(to.at(i), b, 16);
    centre += 32;
  }
}

/** Means of |y| over the box, the first of which begins at `y`. */
function boxEnergy(y: usize, to: Row<f32>, magnitudes: Row<f32>, count: i32): void {
  const end = (<usize>count) << 2;
  const bits = v128.load32_splat(MAGNITUDE);
  const size = magnitudes.at(0);
  for (let i: usize = 0; i < end + (BOX_HALF << 3); i += 16) v128.store(size + i, v128.and(v128.load(y + i), bits));
  for (let i: usize = 0; i < end; i += 32) {
    let a = v128.load(size + i);
    let b = v128.load(size + i, 16);
    for (let k = i + 4; k <= i + (BOX_HALF << 3); k += 4) {
      a = f32x4.add(a, v128.load(size + k));
      b = f32x4.add(b, v128.load(size + k, 16));
    }
    v128.store(to.at(0) + i, f32x4.mul(a, f32x4.splat(BOX_SCALE)));
    v128.store(to.at(0) + i, f32x4.mul(b, f32x4.splat(BOX_SCALE)), 16);
  }
}

/** The same of one template; over those before, where it is not the first, only where it matches better. Writes up to seven values more. */
export function matchTemplate(to: Stretch, at: i32, count: i32, template: usize, kind: i32, isFirst: bool): void {
  for (let i = at; i < at + count; i += 8) {
    const y = to.sharpened.at(i);
    let projectionA = f32x4.splat(0);
    let projectionB = f32x4.splat(0);
    let squareA = f32x4.splat(1e-24); // no 0 / 0 on a flat line
    let squareB = f32x4.splat(1e-24);
    for (let k: usize = 0; k < (<usize>TEMPLATE) << 2; k += 4) {
      const t = v128.load32_splat(template + k);
      const a = v128.load(y + k);
      const b = v128.load(y + k, 16);
      projectionA = f32x4.add(projectionA, f32x4.mul(a, t));
      projectionB = f32x4.add(projectionB, f32x4.mul(b, t));
      squareA = f32x4.add(squareA, f32x4.mul(a, a));
      squareB = f32x4.add(squareB, f32x4.mul(b, b));
    }
    putMatch(to, i, projectionA, squareA, kind, isFirst);
    putMatch(to, i + 4, projectionB, squareB, kind, isFirst);
  }
}

function putMatch(to: Stretch, i: i32, projection: v128, square: v128, kind: i32, isFirst: bool): void {
  const positive = f32x4.pmax(projection, f32x4.splat(0)); // NaN stays NaN
  const match = f32x4.mul(positive, f32x4.div(f32x4.mul(positive, positive), square));
  const isBetter = isFirst ? i32x4.splat(-1) : f32x4.gt(match, v128.load(to.match.at(i)));
  v128.store(to.projection.at(i), v128.bitselect(projection, v128.load(to.projection.at(i)), isBetter));
  v128.store(to.kinds.at(i), v128.bitselect(i32x4.splat(kind + 1), v128.load(to.kinds.at(i)), isBetter));
  v128.store(to.match.at(i), v128.bitselect(match, v128.load(to.match.at(i)), isBetter));
}
