import { followBreath, TRACK_RESP } from './breath';
import { KIND_RESP, SCRATCH, SLOW_HZ } from './layout';
import { clearSeries, SERIES } from './modulation';
import { channelOfKind } from './session';
import { POINTS } from './breath_spectrum';
import { cellsAt, copyCells, fillEmpty } from './window';

const CELLS: i32 = 1024; // the window, 32 s
const STRIDE: i32 = 8; // cells of a point
/** Least part of the window that must be there: 12 s. */
const ENOUGH: i32 = 384;
const RAW: usize = SCRATCH;
/** Polynomials of the drift, POINTS x f32 each. */
const BEFORE: usize = SCRATCH + 0x1000;
const NOW: usize = SCRATCH + 0x1200;
/**
 * Degree of the drift that is taken off: follows two and a half swings in a window and leaves three, the fewest that
 * show a rhythm, nearly whole.
 */
const DRIFT: i32 = 5;
/** No drift is that polynomial alone: a breath smaller than this part of it cannot be told from the rest. */
const ROUGHNESS: f32 = 0.05;

/**
 * Estimate of the window that ends at `end` (seconds), by the effort itself: writes OUT_VALUE and OUT_CONFIDENCE; 1,
 * or 0 for none.
 */
export function estimateRrResp(slot: usize, end: f64): i32 {
  const channel = channelOfKind(slot, KIND_RESP);
  if (!channel) return 0;
  const from = <i32>end * SLOW_HZ - CELLS;
  if (copyCells(channel, 0, from, CELLS, cellsAt(channel, end), RAW) < ENOUGH) return 0;
  const n = POINTS - firstPoint();
  fillEmpty(RAW, CELLS);
  clearSeries(n);
  average(n);
  const drift = removeDrift(n);
  return followBreath(slot, TRACK_RESP, end, n, 60, 1, ROUGHNESS * drift);
}

/** First point (even) from which on the window holds data. */
function firstPoint(): i32 {
  let i = 0;
  while (i < CELLS && isNaN(load<f32>(RAW + (<usize>i << 2)))) i++;
  return (i / STRIDE) & ~1;
}

/** Averages the last n x STRIDE cells to n points of 1/4 s, in the first lane. */
function average(n: i32): void {
  let x = RAW + (<usize>((POINTS - n) * STRIDE) << 2);
  for (let i = 0; i < n; i++) {
    let sum: f32 = 0;
    for (let j = 0; j < STRIDE; j++, x += 4) sum += load<f32>(x);
    store<f32>(SERIES + (<usize>i << 4), sum);
  }
}

/**
 * Takes the polynomial of degree DRIFT (least squares, by discrete Legendre polynomials) off: a belt that slips or a
 * sensor that settles drifts, and does not breathe. The spectrum takes off the mean.
 * @returns standard deviation of what was taken
 */
function removeDrift(n: i32): f32 {
  let taken: f32 = 0;
  for (let i = 0; i < n; i++) {
    store<f32>(BEFORE + (<usize>i << 2), 0);
    store<f32>(NOW + (<usize>i << 2), 1);
  }
  let ratio: f32 = 0;
  let norm: f32 = <f32>n;
  for (let degree = 1; degree <= DRIFT; degree++) {
    const next = raiseDegree(n, ratio);
    ratio = next / norm;
    norm = next;
    taken += removePolynomial(n, norm);
  }
  return sqrt<f32>(taken / <f32>n);
}

/** NOW becomes u x NOW - ratio x BEFORE, u from -1 to 1, and BEFORE what NOW was; returns the sum of its squares. */
function raiseDegree(n: i32, ratio: f32): f32 {
  let norm: f32 = 0;
  for (let i = 0; i < n; i++) {
    const at = <usize>i << 2;
    const now = load<f32>(NOW + at);
    const u = (<f32>2 * <f32>i + 1) / <f32>n - 1;
    const next = u * now - ratio * load<f32>(BEFORE + at);
    store<f32>(BEFORE + at, now);
    store<f32>(NOW + at, next);
    norm += next * next;
  }
  return norm;
}

/** Takes what the polynomial in NOW explains off the series; returns the sum of its squares. */
function removePolynomial(n: i32, norm: f32): f32 {
  let product: f32 = 0;
  for (let i = 0; i < n; i++) product += load<f32>(SERIES + (<usize>i << 4)) * load<f32>(NOW + (<usize>i << 2));
  const weight = product / norm;
  for (let i = 0; i < n; i++) {
    const at = SERIES + (<usize>i << 4);
    store<f32>(at, load<f32>(at) - weight * load<f32>(NOW + (<usize>i << 2)));
  }
  return weight * product;
}
