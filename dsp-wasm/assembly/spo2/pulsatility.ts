import { ramp } from '../math/ramp';
import { total } from '../math/vector';
import { meanOf } from './mean';
import { INFRARED, POOLED, PRODUCTS, WINDOW } from './scratch';
import {
  ENOUGH_PERIODIC,
  ENOUGH_SKEW,
  LAG_MAX,
  LAG_MIN,
  LEAST_MOVEMENT,
  LEAST_PERIODIC,
  LEAST_PULSATILITY,
  LEAST_SKEW,
  OF_GROWTH,
  SKEW_SHARE,
  SOONER,
  SURE_MOVEMENT,
} from './tuning';

/**
 * How much the infrared slopes resemble a pulse. Movement and interference affect both channels alike and correlate
 * well, but they neither repeat at the pace of a heart nor rise more steeply than they fall. A rhythm that does not
 * repeat may still rise more steeply, and is trusted less. Channels that agree about a signal other than a pulse keep a
 * fifth of the confidence. Writes POOLED.skew.
 */
export function pulsatility(): f64 {
  const first = centre();
  POOLED.skew = Math.abs(skewness(first));
  const periodic = ramp<f64>(periodicity(first), LEAST_PERIODIC, ENOUGH_PERIODIC);
  const skewed = SKEW_SHARE * ramp<f64>(POOLED.skew, LEAST_SKEW, ENOUGH_SKEW);
  return max(LEAST_PULSATILITY, max(periodic, skewed));
}

/**
 * Share of the confidence that remains by the waveform: slopes that rise and fall alike, and are larger than a pulse was before,
 * may be those of a movement in rhythm. Comes after pulsatility.
 * @param growth how much larger than usual they are, natural logarithm
 */
export function steadiness(growth: f64): f64 {
  const movement = ramp<f64>(OF_GROWTH * growth - POOLED.skew, LEAST_MOVEMENT, SURE_MOVEMENT);
  return max(LEAST_PULSATILITY, 1 - movement);
}

/** Subtracts the mean from the infrared slopes and sets missing ones to 0; returns the first existing one. */
function centre(): i32 {
  const mean = f32x4.splat(<f32>meanOf(INFRARED));
  let first = 0;
  while (first < WINDOW && isNaN(INFRARED[first])) first++;
  for (let i = 0; i < WINDOW; i += 4) {
    const v = v128.load(INFRARED.at(i));
    v128.store(INFRARED.at(i), v128.and(f32x4.sub(v, mean), f32x4.eq(v, v)));
  }
  return first;
}

/** Third standardised moment: about 1.3 for a pulse, below 0.7 in 99 of 100 windows of noise. */
function skewness(first: i32): f64 {
  let squares = f32x4.splat(0);
  let cubes = squares;
  for (let i = 0; i < WINDOW; i += 4) {
    const v = v128.load(INFRARED.at(i));
    const square = f32x4.mul(v, v);
    squares = f32x4.add(squares, square);
    cubes = f32x4.add(cubes, f32x4.mul(square, v));
  }
  const count = <f64>(WINDOW - first);
  const variance = total(squares) / count;
  return total(cubes) / count / (variance * Math.sqrt(variance));
}

/** Highest peak of the autocorrelation from slope `first` on, at the lags of a pulse: noise and drift stay below 0.5. */
function periodicity(first: i32): f64 {
  const count = WINDOW - first;
  const energy = product(first, first, count);
  correlate(first, count);
  if (repeatsSooner(energy)) return 0;
  // Energies of the slopes that have a partner `lag` before, and `lag` behind
  let head = energy - product(first, first, LAG_MIN);
  let tail = energy - product(WINDOW - LAG_MIN, WINDOW - LAG_MIN, LAG_MIN);
  let best: f64 = 0;
  let before: f64 = 0;
  let beforeLast: f64 = Infinity;
  for (let lag = LAG_MIN; lag <= min(LAG_MAX, count / 2); lag += 2) {
    const now = PRODUCTS[lag] / Math.sqrt(head * tail + 1e-300);
    if (before >= beforeLast && before >= now) best = max(best, before);
    beforeLast = before;
    before = now;
    head -= square(first + lag) + square(first + lag + 1);
    tail -= square(WINDOW - lag - 1) + square(WINDOW - lag - 2);
  }
  return best;
}

/**
 * Whether the autocorrelation has a peak as high as a pulse's at a lag too short for a heart: a hum, aliased by the
 * grid.
 */
function repeatsSooner(energy: f64): bool {
  let before = PRODUCTS[2];
  let beforeLast = energy;
  for (let lag = 3; lag < LAG_MIN; lag++) {
    const now = PRODUCTS[lag];
    if (before > beforeLast && before >= now && before > SOONER * energy) return true;
    beforeLast = before;
    before = now;
  }
  return false;
}

/** Writes PRODUCTS of the lags below LAG_MIN and of every second one from there on. */
function correlate(first: i32, count: i32): void {
  for (let lag = 1; lag < LAG_MIN; lag += 4) correlateFour(first, count, lag, 1);
  for (let lag = LAG_MIN; lag <= LAG_MAX; lag += 8) correlateFour(first, count, lag, 2);
}

/** Four lags, `apart` from each other, at the same time: a single sum would wait for its own additions. */
function correlateFour(first: i32, count: i32, lag: i32, apart: i32): void {
  const shared = max(0, count - lag - 3 * apart) & ~3;
  const step = (<usize>apart) << 2;
  const end = INFRARED.at(first + shared);
  let y = INFRARED.at(first + lag);
  let a = f32x4.splat(0);
  let b = a;
  let c = a;
  let d = a;
  for (let x = INFRARED.at(first); x < end; x += 16, y += 16) {
    const v = v128.load(x);
    a = f32x4.add(a, f32x4.mul(v, v128.load(y)));
    b = f32x4.add(b, f32x4.mul(v, v128.load(y + step)));
    c = f32x4.add(c, f32x4.mul(v, v128.load(y + 2 * step)));
    d = f32x4.add(d, f32x4.mul(v, v128.load(y + 3 * step)));
  }
  finishProduct(a, shared, first, count, lag);
  finishProduct(b, shared, first, count, lag + apart);
  finishProduct(c, shared, first, count, lag + 2 * apart);
  finishProduct(d, shared, first, count, lag + 3 * apart);
}

function finishProduct(sum: v128, done: i32, first: i32, count: i32, lag: i32): void {
  PRODUCTS[lag] = productFrom(sum, done, first, first + lag, count - lag);
}

/** Sum of the products of `count` slopes from `i` and from `j` on. */
function product(i: i32, j: i32, count: i32): f64 {
  return productFrom(f32x4.splat(0), 0, i, j, count);
}

/** The same, if the sum of the first `done` (a multiple of four) is already known. */
function productFrom(sum: v128, done: i32, i: i32, j: i32, count: i32): f64 {
  const whole = count & ~3;
  for (let k = done; k < whole; k += 4) {
    sum = f32x4.add(sum, f32x4.mul(v128.load(INFRARED.at(i + k)), v128.load(INFRARED.at(j + k))));
  }
  let rest = total(sum);
  for (let k = whole; k < count; k++) rest += <f64>(INFRARED[i + k] * INFRARED[j + k]);
  return rest;
}

function square(i: i32): f64 {
  return <f64>(INFRARED[i] * INFRARED[i]);
}
