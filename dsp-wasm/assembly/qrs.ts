import { LEAD_TEMPLATE } from './ecg_state';
import { SCRATCH } from './layout';
import { copyCells } from './window';

/**
 * How QRS-like a lead is at each instant, by three features:
 *
 * energy: mean of |y| over 86 ms, y being the lead sharpened by a second derivative of a Gaussian (response at 22 Hz, so
 *   that T waves, baseline wander and electrode motion fall far below the QRS; a matched wavelet, cf. Martinez 2004). It
 *   finds beats of most shapes and needs to know nothing;
 * match: projection of y on the template of the session's own beats, times the square of its share of y's norm. It tells
 *   a beat from an artefact as large, which energy cannot (Kaplan 1990);
 * width: the same energy at 8 Hz, where ventricular ectopic beats have it (Thakor 1984), and T waves too.
 *
 * All kernels are symmetric, so a feature at cell c belongs to c: no delay is left to correct. A feature whose cells are
 * not all there is NaN, so a gap rings nowhere.
 */

/** Half widths, cells: of the two wavelets, of the energies' box, of the template (100 ms, the QRS and no T wave). */
const SHARPEN_HALF: i32 = 5;
const BROADEN_HALF: i32 = 12;
const BOX_HALF: i32 = 5;
export const TEMPLATE_HALF: i32 = 13;
export const TEMPLATE_CELLS: i32 = 27;
/** A feature at cell c is made of the cells from c - REACH to c + REACH. */
export const REACH: i32 = 18;
const BOX_SCALE: f32 = 1.0 / 11.0;

// Loaded, as the engine would make a constant vector anew in every turn of a loop.

/** The sharpening wavelet from its centre on: (1 - u^2) exp(-u^2 / 2) at u = k / 1.3096, less its mean, to norm 1. */
const SHARP: usize = memory.data<f32>([0.75782472, 0.23597287, -0.31469491, -0.23353414, -0.05954859, -0.00710758]);

/** All bits of a float but the sign. */
const MAGNITUDE: usize = memory.data<u32>([0x7fffffff]);

/** The broad wavelet, u = k / 3.6013, from its centre on. */
const BROAD: usize = memory.data<f32>([
  0.45600869, 0.40481100, 0.26985785, 0.09780085, -0.05871918, -0.16280683, -0.20367117,
  -0.19308817, -0.15359878, -0.10665258, -0.06600007, -0.03694008, -0.01899720,
]);

/** Most cells of features at once: those since the beat before, and what they reach. */
const MOST: usize = 512;
const X: usize = SCRATCH;
const Y: usize = X + (MOST << 2);
const B: usize = Y + (MOST << 2);
/** Features of the cells asked for, f32 each. */
export const ENERGY: usize = B + (MOST << 2);
export const MATCH: usize = ENERGY + (MOST << 2);
export const PROJECTION: usize = MATCH + (MOST << 2);
export const WIDTH: usize = PROJECTION + (MOST << 2);
const SIZE: usize = WIDTH + (MOST << 2);
/** Free for the callers. */
export const QRS_SCRATCH_END: usize = SIZE + (MOST << 2);

/**
 * Computes the features of `count` cells from cell `from` on into ENERGY and WIDTH, and, where `lead` has a template,
 * MATCH and PROJECTION. Uses no cell at or past `limit`.
 */
export function computeFeatures(
  channel: usize,
  sub: i32,
  lead: usize,
  from: i32,
  count: i32,
  limit: i32,
  matched: bool,
): void {
  const rounded = (count + 7) & ~7; // two vectors in flight, as sums wait for each other
  transform(channel, sub, from, rounded, limit, Y, B);
  measure(Y, B, lead, rounded, matched);
}

/**
 * Features that belong together: those of a second, the blocks of a step mostly. Their wavelets are computed at once, as
 * each block reaches over the ones beside it. A group begins at a cell of its own, wherever the first block in question
 * lies, so that its level, and with it the rounding, does not depend on how the data were cut.
 */
const GROUP: i32 = 128;
/** Wavelets of each lead's group, GROUP_ROW cells each. */
const GROUP_ROW: usize = 256;
const GROUP_Y: usize = SCRATCH + 0x10000;
const GROUP_B: usize = GROUP_Y + 4 * (GROUP_ROW << 2);
let groupFrom: i32 = 0;
let groupTo: i32 = 0;

/** Scratch was used by others: no group is there. */
export function forgetGroup(): void {
  groupTo = groupFrom;
}

/**
 * Computes the wavelets of all leads for cells that hold [from, to), if they are not there. Uses no cell at or past `limit`.
 * @param first first cell of any group
 */
export function prepareGroup(channel: usize, leads: i32, first: i32, from: i32, to: i32, limit: i32): void {
  if (from >= groupFrom && to <= groupTo) return;
  groupFrom = from - ((from - first) % GROUP);
  groupTo = min(groupFrom + GROUP, limit - REACH);
  const rounded = (groupTo - groupFrom + 7) & ~7;
  for (let k = 0; k < leads; k++) transform(channel, k, groupFrom, rounded, limit, rowOf(GROUP_Y, k), rowOf(GROUP_B, k));
}

/** As `computeFeatures`, for cells of the group. */
export function groupFeatures(sub: i32, lead: usize, from: i32, count: i32, matched: bool): void {
  const at = <usize>(from - groupFrom) << 2;
  measure(rowOf(GROUP_Y, sub) + at, rowOf(GROUP_B, sub) + at, lead, count, matched);
}

// @ts-ignore: decorator
@inline
function rowOf(rows: usize, sub: i32): usize {
  return rows + <usize>sub * (GROUP_ROW << 2);
}

/** Writes the wavelets' responses of `count` cells, and of those that features at their ends reach, to `y` and `b`. */
function transform(channel: usize, sub: i32, from: i32, count: i32, limit: i32, y: usize, b: usize): void {
  copyCells(channel, sub, from - REACH, count + 2 * REACH, limit, X);
  levelOut(count + 2 * REACH);
  sharpen(y, count + 2 * TEMPLATE_HALF);
  broaden(b, count + 2 * BOX_HALF);
}

/** Writes the features of `count` cells, whose wavelets' responses begin at `y` and `b`. */
function measure(y: usize, b: usize, lead: usize, count: i32, matched: bool): void {
  boxEnergy(y + (<usize>(TEMPLATE_HALF - BOX_HALF) << 2), ENERGY, count);
  boxEnergy(b, WIDTH, count);
  if (matched) matchTemplate(y, lead + LEAD_TEMPLATE, count);
}

/** Level of the cells that were used last: the first of them. */
let level: f32 = 0;

/** Features no larger than that are what rounding makes of a flat line at the level of the cells that were used last. */
export function roundingFloor(): f32 {
  return <f32>1e-5 * abs(level);
}

/** Takes the first cell off all, which keeps the wavelets' own rounding small. */
function levelOut(count: i32): void {
  level = load<f32>(X);
  if (level != level) level = 0;
  for (let i: usize = 0; i < <usize>count << 2; i += 16) {
    v128.store(X + i, f32x4.sub(v128.load(X + i), f32x4.splat(level)));
  }
}

/** Pointer to the lead itself, its level taken off, at the i-th of the cells asked for. */
// @ts-ignore: decorator
@inline
export function leveledAt(i: i32): usize {
  return X + (<usize>(i + REACH) << 2);
}

/** Pointer to the sharpened signal at the i-th of the cells asked for. */
// @ts-ignore: decorator
@inline
export function sharpenedAt(i: i32): usize {
  return Y + (<usize>(i + TEMPLATE_HALF) << 2);
}

/** Pointer to the broad signal at the i-th of the cells asked for. */
// @ts-ignore: decorator
@inline
export function broadAt(i: i32): usize {
  return B + (<usize>(i + BOX_HALF) << 2);
}

function sharpen(to: usize, count: i32): void {
  const k0 = v128.load32_splat(SHARP);
  const k1 = v128.load32_splat(SHARP, 4);
  const k2 = v128.load32_splat(SHARP, 8);
  const k3 = v128.load32_splat(SHARP, 12);
  const k4 = v128.load32_splat(SHARP, 16);
  const k5 = v128.load32_splat(SHARP, 20);
  for (let i = 0; i < count; i += 4) {
    const x = X + (<usize>i << 2);
    let y = f32x4.mul(v128.load(x, 20), k0);
    y = f32x4.add(y, f32x4.mul(f32x4.add(v128.load(x, 16), v128.load(x, 24)), k1));
    y = f32x4.add(y, f32x4.mul(f32x4.add(v128.load(x, 12), v128.load(x, 28)), k2));
    y = f32x4.add(y, f32x4.mul(f32x4.add(v128.load(x, 8), v128.load(x, 32)), k3));
    y = f32x4.add(y, f32x4.mul(f32x4.add(v128.load(x, 4), v128.load(x, 36)), k4));
    y = f32x4.add(y, f32x4.mul(f32x4.add(v128.load(x, 0), v128.load(x, 40)), k5));
    v128.store(to + (<usize>i << 2), y);
  }
}

function broaden(to: usize, count: i32): void {
  for (let i = 0; i < count; i += 8) {
    const centre = X + (<usize>(i + REACH - BOX_HALF) << 2);
    const middle = v128.load32_splat(BROAD);
    let a = f32x4.mul(v128.load(centre), middle);
    let b = f32x4.mul(v128.load(centre, 16), middle);
    for (let k: usize = 4; k <= <usize>BROADEN_HALF << 2; k += 4) {
      const w = v128.load32_splat(BROAD + k);
      a = f32x4.add(a, f32x4.mul(f32x4.add(v128.load(centre - k), v128.load(centre + k)), w));
      b = f32x4.add(b, f32x4.mul(f32x4.add(v128.load(centre - k, 16), v128.load(centre + k, 16)), w));
    }
    v128.store(to + (<usize>i << 2), a);
    v128.store(to + (<usize>i << 2), b, 16);
  }
}

/** Means of |y| over the box, the first of which begins at `y`. */
function boxEnergy(y: usize, to: usize, count: i32): void {
  const end = <usize>count << 2;
  const bits = v128.load32_splat(MAGNITUDE);
  for (let i: usize = 0; i < end + (BOX_HALF << 3); i += 16) v128.store(SIZE + i, v128.and(v128.load(y + i), bits));
  for (let i: usize = 0; i < end; i += 32) {
    let a = v128.load(i, SIZE);
    let b = v128.load(i, SIZE + 16);
    for (let k = i + 4; k <= i + (BOX_HALF << 3); k += 4) {
      a = f32x4.add(a, v128.load(k, SIZE));
      b = f32x4.add(b, v128.load(k, SIZE + 16));
    }
    v128.store(to + i, f32x4.mul(a, f32x4.splat(BOX_SCALE)));
    v128.store(to + i, f32x4.mul(b, f32x4.splat(BOX_SCALE)), 16);
  }
}

function matchTemplate(sharp: usize, template: usize, count: i32): void {
  for (let i: usize = 0; i < <usize>count << 2; i += 32) {
    const y = sharp + i;
    let projectionA = f32x4.splat(0);
    let projectionB = f32x4.splat(0);
    let squareA = f32x4.splat(1e-24); // no 0 / 0 on a flat line
    let squareB = f32x4.splat(1e-24);
    for (let k: usize = 0; k < <usize>TEMPLATE_CELLS << 2; k += 4) {
      const t = v128.load32_splat(template + k);
      const a = v128.load(y + k);
      const b = v128.load(y + k, 16);
      projectionA = f32x4.add(projectionA, f32x4.mul(a, t));
      projectionB = f32x4.add(projectionB, f32x4.mul(b, t));
      squareA = f32x4.add(squareA, f32x4.mul(a, a));
      squareB = f32x4.add(squareB, f32x4.mul(b, b));
    }
    putMatch(i, projectionA, squareA);
    putMatch(i + 16, projectionB, squareB);
  }
}

// @ts-ignore: decorator
@inline
function putMatch(at: usize, projection: v128, square: v128): void {
  const positive = f32x4.pmax(projection, f32x4.splat(0)); // NaN stays NaN
  v128.store(PROJECTION + at, projection);
  v128.store(MATCH + at, f32x4.mul(positive, f32x4.div(f32x4.mul(positive, positive), square)));
}
