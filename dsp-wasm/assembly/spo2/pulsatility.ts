import { total } from '../math/vector';
import { Row } from '../memory/row';
import { PULSE } from './tuning';
import { meanOf, WINDOW } from './window';

/** By lag: sum of x[i] x[i + lag]. */
const PRODUCTS = changetype<Row<f64>>(memory.data(WINDOW * 8, 16));

/**
 * How much the infrared slopes resemble a pulse. Movement and interference affect both channels alike and correlate
 * well, but they neither repeat at the pace of a heart nor rise more steeply than they fall.
 */

/** Subtracts the mean from the slopes and sets missing ones to 0; returns the first existing one. */
export function centre(slopes: Row<f32>): i32 {
  const mean = f32x4.splat(<f32>meanOf(slopes, WINDOW));
  let first = 0;
  while (first < WINDOW && isNaN(slopes[first])) first++;
  for (let i = 0; i < WINDOW; i += 4) {
    const v = v128.load(slopes.at(i));
    v128.store(slopes.at(i), v128.and(f32x4.sub(v, mean), f32x4.eq(v, v)));
  }
  return first;
}

/** Third standardised moment: about 1.3 for a pulse, below 0.7 in 99 of 100 windows of noise. */
export function skewness(slopes: Row<f32>, first: i32): f64 {
  let squares = f32x4.splat(0);
  let cubes = squares;
  for (let i = 0; i < WINDOW; i += 4) {
    const v = v128.load(slopes.at(i));
    const square = f32x4.mul(v, v);
    squares = f32x4.add(squares, square);
    cubes = f32x4.add(cubes, f32x4.mul(square, v));
  }
  const count = <f64>(WINDOW - first);
  const variance = total(squares) / count;
  return total(cubes) / count / (variance * Math.sqrt(variance));
}

/**
 * Highest peak of the autocorrelation from slope `first` on, at the lags of a pulse, less the highest at lags too short for a heart, as a
 * hum has them: noise and drift stay below 0.5.
 */
export function periodicity(slopes: Row<f32>, first: i32): f64 {
  const count = WINDOW - first;
  const energy = product(slopes, first, first, count);
  correlate(slopes, first, count);
  // Energies of the slopes that have a partner `lag` before, and `lag` behind
  let head = energy - product(slopes, first, first, PULSE.LAG_MIN);
  let tail = energy - product(slopes, WINDOW - PULSE.LAG_MIN, WINDOW - PULSE.LAG_MIN, PULSE.LAG_MIN);
  let best: f64 = 0;
  let before: f64 = 0;
  let beforeLast: f64 = Infinity;
  for (let lag = PULSE.LAG_MIN; lag <= min(PULSE.LAG_MAX, count / 2); lag += 2) {
    const now = PRODUCTS[lag] / Math.sqrt(head * tail + 1e-300);
    if (before >= beforeLast && before >= now) best = max(best, before);
    beforeLast = before;
    before = now;
    head -= square(slopes, first + lag) + square(slopes, first + lag + 1);
    tail -= square(slopes, WINDOW - lag - 1) + square(slopes, WINDOW - lag - 2);
  }
  return best - soonest(energy);
}

/** Highest peak of the autocorrelation at a lag too short for a heart. */
function soonest(energy: f64): f64 {
  let best: f64 = 0;
  for (let lag = 2; lag < PULSE.LAG_MIN - 1; lag++) {
    const here = PRODUCTS[lag];
    if (here > PRODUCTS[lag - 1] && here >= PRODUCTS[lag + 1]) best = max(best, here / energy);
  }
  return best;
}

/** Writes PRODUCTS of the lags below LAG_MIN and of every second one from there on. */
function correlate(slopes: Row<f32>, first: i32, count: i32): void {
  for (let lag = 1; lag < PULSE.LAG_MIN; lag += 4) correlateFour(slopes, first, count, lag, 1);
  for (let lag = PULSE.LAG_MIN; lag <= PULSE.LAG_MAX; lag += 8) correlateFour(slopes, first, count, lag, 2);
}

/** Four lags, `apart` from each other, at the same time: a single sum would wait for its own additions. */
function correlateFour(slopes: Row<f32>, first: i32, count: i32, lag: i32, apart: i32): void {
  const shared = max(0, count - lag - 3 * apart) & ~3;
  const step = (<usize>apart) << 2;
  const end = slopes.at(first + shared);
  let y = slopes.at(first + lag);
  let a = f32x4.splat(0);
  let b = a;
  let c = a;
  let d = a;
  for (let x = slopes.at(first); x < end; x += 16, y += 16) {
    const v = v128.load(x);
    a = f32x4.add(a, f32x4.mul(v, v128.load(y)));
    b = f32x4.add(b, f32x4.mul(v, v128.load(y + step)));
    c = f32x4.add(c, f32x4.mul(v, v128.load(y + 2 * step)));
    d = f32x4.add(d, f32x4.mul(v, v128.load(y + 3 * step)));
  }
  finishProduct(slopes, a, shared, first, count, lag);
  finishProduct(slopes, b, shared, first, count, lag + apart);
  finishProduct(slopes, c, shared, first, count, lag + 2 * apart);
  finishProduct(slopes, d, shared, first, count, lag + 3 * apart);
}

function finishProduct(slopes: Row<f32>, sum: v128, done: i32, first: i32, count: i32, lag: i32): void {
  PRODUCTS[lag] = productFrom(slopes, sum, done, first, first + lag, count - lag);
}

/** Sum of the products of `count` slopes from `i` and from `j` on. */
function product(slopes: Row<f32>, i: i32, j: i32, count: i32): f64 {
  return productFrom(slopes, f32x4.splat(0), 0, i, j, count);
}

/** The same, if the sum of the first `done` (a multiple of four) is already known. */
function productFrom(slopes: Row<f32>, sum: v128, done: i32, i: i32, j: i32, count: i32): f64 {
  const whole = count & ~3;
  for (let k = done; k < whole; k += 4) {
    sum = f32x4.add(sum, f32x4.mul(v128.load(slopes.at(i + k)), v128.load(slopes.at(j + k))));
  }
  let rest = total(sum);
  for (let k = whole; k < count; k++) rest += <f64>(slopes[i + k] * slopes[j + k]);
  return rest;
}

function square(slopes: Row<f32>, i: i32): f64 {
  return <f64>(slopes[i] * slopes[i]);
}
