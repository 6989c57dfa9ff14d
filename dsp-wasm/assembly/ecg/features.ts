import { copyGrid } from '../grid/window';
import { Channel } from '../memory/channel';
import { Lead, TEMPLATE, TEMPLATES } from '../memory/ecg_state';
import { Row } from '../memory/row';
import {
  BROADENED,
  ENERGY,
  GROUP,
  groupBroadened,
  groupSharpened,
  LEVELED,
  MAGNITUDES,
  MATCH,
  PROJECTION,
  SHARPENED,
  WIDTH,
} from './scratch';
import { TEMPLATE_BEATS } from './tuning';

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

/** Half widths, grid samples: of the broad wavelet, of the averaging of energies, of the template (100 ms: the QRS without the T wave). */
const BROADEN_HALF: i32 = 12;
const BOX_HALF: i32 = 5;
export const TEMPLATE_HALF: i32 = 13;
/** A feature uses the grid samples up to REACH before and after its own. */
export const REACH: i32 = 18;
const BOX_SCALE: f32 = 1.0 / 11.0;

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

/**
 * Computes the features of `count` grid samples from `from` on into ENERGY and WIDTH, and, where the lead has a template
 * (`matched`), MATCH and PROJECTION. Uses no grid sample at or past `limit`.
 * @returns the largest feature that rounding errors can cause for a flat line at the lead's level
 */
export function computeFeatures(
  channel: Channel,
  sub: i32,
  lead: Lead,
  from: i32,
  count: i32,
  limit: i32,
  matched: bool,
): f32 {
  const rounded = (count + 7) & ~7; // two vectors at a time, because sums wait for each other
  const level = transform(channel, sub, from, rounded, limit, SHARPENED.at(0), BROADENED.at(0));
  measure(SHARPENED.at(0), BROADENED.at(0), lead, rounded, matched);
  return <f32>1e-5 * abs(level);
}

/**
 * A group consists of the features of one second, usually the blocks of one step. Their wavelets are computed together,
 * because the blocks overlap. Groups begin at fixed grid samples, so that the level, and with it the rounding, does not
 * depend on the chunking of the data.
 */
const GROUP_SAMPLES: i32 = 128;

/** Marks the group as missing, because other functions have used the scratch memory. */
export function forgetGroup(): void {
  GROUP.from = 0;
  GROUP.to = 0;
}

/**
 * Computes the wavelets of all leads for the group that contains [from, to), unless they exist already. Uses no grid sample
 * at or after `limit`.
 * @param first first grid sample of any group
 */
export function prepareGroup(channel: Channel, leads: i32, first: i32, from: i32, to: i32, limit: i32): void {
  if (from >= GROUP.from && to <= GROUP.to) return;
  GROUP.from = from - ((from - first) % GROUP_SAMPLES);
  GROUP.to = min(GROUP.from + GROUP_SAMPLES, limit - REACH);
  const rounded = (GROUP.to - GROUP.from + 7) & ~7;
  for (let k = 0; k < leads; k++) {
    transform(channel, k, GROUP.from, rounded, limit, groupSharpened(k).at(0), groupBroadened(k).at(0));
  }
}

/** As `computeFeatures`, for grid samples of the group. */
export function groupFeatures(sub: i32, lead: Lead, from: i32, count: i32, matched: bool): void {
  const at = from - GROUP.from;
  measure(groupSharpened(sub).at(at), groupBroadened(sub).at(at), lead, count, matched);
}

/**
 * Writes the wavelets' responses at `count` grid samples, and at the neighbours that their features need, to `y` and `b`.
 * @returns the level that was subtracted from the lead
 */
function transform(channel: Channel, sub: i32, from: i32, count: i32, limit: i32, y: usize, b: usize): f32 {
  copyGrid(channel, sub, from - REACH, count + 2 * REACH, limit, LEVELED.at(0));
  const level = levelOut(count + 2 * REACH);
  sharpen(y, count + 2 * TEMPLATE_HALF);
  broaden(b, count + 2 * BOX_HALF);
  return level;
}

/** Writes the features of `count` grid samples, whose wavelets' responses begin at `y` and `b`. */
function measure(y: usize, b: usize, lead: Lead, count: i32, matched: bool): void {
  boxEnergy(y + ((<usize>(TEMPLATE_HALF - BOX_HALF)) << 2), ENERGY, count);
  boxEnergy(b, WIDTH, count);
  if (matched) matchTemplates(y, lead, count);
}

/** Subtracts the first grid sample from all, which keeps the rounding errors of the wavelets small; returns it. */
function levelOut(count: i32): f32 {
  const first = LEVELED[0];
  const level: f32 = isNaN(first) ? 0 : first;
  for (let x = LEVELED.at(0); x < LEVELED.at(count); x += 16) {
    v128.store(x, f32x4.sub(v128.load(x), f32x4.splat(level)));
  }
  return level;
}

/** The lead without its level, at the i-th requested grid sample. */
export function leveled(i: i32): f32 {
  return LEVELED[i + REACH];
}

/** Address of the sharpened signal at the i-th requested grid sample. */
export function sharpenedAt(i: i32): usize {
  return SHARPENED.at(i + TEMPLATE_HALF);
}

/** The broad signal at the i-th requested grid sample. */
export function broad(i: i32): f32 {
  return BROADENED[i + BOX_HALF];
}

function sharpen(to: usize, count: i32): void {
  const k0 = v128.load32_splat(SHARP);
  const k1 = v128.load32_splat(SHARP, 4);
  const k2 = v128.load32_splat(SHARP, 8);
  const k3 = v128.load32_splat(SHARP, 12);
  const k4 = v128.load32_splat(SHARP, 16);
  const k5 = v128.load32_splat(SHARP, 20);
  for (let i = 0; i < count; i += 4) {
    const x = LEVELED.at(i);
    let y = f32x4.mul(v128.load(x, 20), k0);
    y = f32x4.add(y, f32x4.mul(f32x4.add(v128.load(x, 16), v128.load(x, 24)), k1));
    y = f32x4.add(y, f32x4.mul(f32x4.add(v128.load(x, 12), v128.load(x, 28)), k2));
    y = f32x4.add(y, f32x4.mul(f32x4.add(v128.load(x, 8), v128.load(x, 32)), k3));
    y = f32x4.add(y, f32x4.mul(f32x4.add(v128.load(x, 4), v128.load(x, 36)), k4));
    y = f32x4.add(y, f32x4.mul(f32x4.add(v128.load(x, 0), v128.load(x, 40)), k5));
    v128.store(to + ((<usize>i) << 2), y);
  }
}

function broaden(to: usize, count: i32): void {
  for (let i = 0; i < count; i += 8) {
    const centre = LEVELED.at(i + REACH - BOX_HALF);
    const middle = v128.load32_splat(BROAD);
    let a = f32x4.mul(v128.load(centre), middle);
    let b = f32x4.mul(v128.load(centre, 16), middle);
    for (let k: usize = 4; k <= (<usize>BROADEN_HALF) << 2; k += 4) {
      const w = v128.load32_splat(BROAD + k);
      a = f32x4.add(a, f32x4.mul(f32x4.add(v128.load(centre - k), v128.load(centre + k)), w));
      b = f32x4.add(b, f32x4.mul(f32x4.add(v128.load(centre - k, 16), v128.load(centre + k, 16)), w));
    }
    v128.store(to + ((<usize>i) << 2), a);
    v128.store(to + ((<usize>i) << 2), b, 16);
  }
}

/** Means of |y| over the box, the first of which begins at `y`. */
function boxEnergy(y: usize, to: Row<f32>, count: i32): void {
  const end = (<usize>count) << 2;
  const bits = v128.load32_splat(MAGNITUDE);
  const size = MAGNITUDES.at(0);
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

/** Where a lead has templates of several kinds of beats, a grid sample has the match and the projection of the best one. */
function matchTemplates(sharp: usize, lead: Lead, count: i32): void {
  let isFirst = true;
  for (let k = 0; k < TEMPLATES; k++) {
    const template = lead.templateAt(k);
    if (template.learnt < TEMPLATE_BEATS) continue;
    matchTemplate(sharp, template.shape.at(0), count, isFirst);
    isFirst = false;
  }
}

function matchTemplate(sharp: usize, template: usize, count: i32, isFirst: bool): void {
  for (let i = 0; i < count; i += 8) {
    const y = sharp + ((<usize>i) << 2);
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
    putMatch(i, projectionA, squareA, isFirst);
    putMatch(i + 4, projectionB, squareB, isFirst);
  }
}

function putMatch(i: i32, projection: v128, square: v128, isFirst: bool): void {
  const positive = f32x4.pmax(projection, f32x4.splat(0)); // NaN stays NaN
  const match = f32x4.mul(positive, f32x4.div(f32x4.mul(positive, positive), square));
  const isBetter = isFirst ? i32x4.splat(-1) : f32x4.gt(match, v128.load(MATCH.at(i)));
  v128.store(PROJECTION.at(i), v128.bitselect(projection, v128.load(PROJECTION.at(i)), isBetter));
  v128.store(MATCH.at(i), v128.bitselect(match, v128.load(MATCH.at(i)), isBetter));
}
