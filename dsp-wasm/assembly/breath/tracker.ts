import { BreathState, RATES, Track } from '../memory/breath_state';
import { countLanes } from '../memory/lanes';
import { Estimate } from '../memory/map';
import { Row } from '../memory/row';
import { removeDrift } from './drift';
import { BLEND, GENTLEST, HIGH, LOW, POINTS, POWER, PREDICTED, SLOWEST, STEEPEST } from './scratch';
import { seriesSpectra } from './spectrum';
import { doubtHeld, keepNewest } from './swing';
import {
  ALL_RATES,
  BEATS_DRIFT,
  CERTAIN_MASS,
  DRIFT,
  DRIFT_BIN,
  EFFORT_DRIFT,
  EFFORT_HARMONIC,
  EFFORT_SPREAD,
  ENOUGH_SHOWN,
  EXPONENT,
  FADING,
  FORGET,
  GENTLEST_BASELINES,
  GENTLEST_HEIGHTS,
  GENTLEST_INTERVALS,
  HALF_STRETCH,
  HARMONIC,
  HARMONIC_LIMIT,
  HIGH_FROM,
  HIGH_TO,
  JUMP,
  LITTLE_SHOWN_MASS,
  LOST,
  LOW_FROM,
  LOW_TO,
  LOWEST_BIN,
  MOST_SHOWN,
  MUCH_SHOWN,
  MUCH_SHOWN_MASS,
  PRESSURE_BIN,
  PRESSURE_ODDS,
  RATE_SPREAD,
  ROUGHNESS,
  SERIES_ODDS,
  STEEPEST_BASELINES,
  STEEPEST_EFFORT,
  STEEPEST_HEIGHTS,
  STEEPEST_INTERVALS,
  UNEXPLAINED,
  UNEXPLAINED_WIDTHS,
  USUAL_RATE,
} from './tuning';

/**
 * Breaths per minute from up to four series that breathing may modulate, one in each lane.
 *
 * Each series gives a likelihood over rates: that of a sinusoid of that rate in noise, (1 - r)^-K with r the part of
 * the whitened power that it explains (Bretthorst, Bayesian Spectrum Analysis, 1988), against that of no breathing in
 * this series at all; so a series without breathing says nothing, and agreement of several counts, as in Smart Fusion
 * (Karlen et al., IEEE TBME 60:1946, 2013). A part of the power at twice the rate counts as well: breathing is no
 * sinusoid. The likelihoods feed a forward filter (hidden Markov model) over rates, which drift slowly. Its state is
 * a posterior; the estimate is the mean of its heaviest stretch of 6 per minute, and the stretch's mass gives the
 * confidence, P(error within 3).
 */

/** Bins of the spectra are 4 Hz / 256 = 0.9375 per minute apart. */
const BIN_PER_MINUTE: f32 = 0.9375;
/** Bins of the lowest and of the highest rate that is followed: 4.7 and 46 per minute. */
const FIRST: i32 = 5;
const LAST: i32 = FIRST + RATES - 1;

// Where the series come from; each has a tracker.
export const FROM_PPG: i32 = 0;
export const FROM_ECG: i32 = 1;
export const FROM_EFFORT: i32 = 2;

/** Prior chance of each rate, where beats show the breath and where an effort does. */
const BEATS_PRIOR = changetype<Row<f32>>(memory.data(RATES * 4, 16));
const EFFORT_PRIOR = changetype<Row<f32>>(memory.data(RATES * 4, 16));

export function makeRatePriors(): void {
  makePrior(BEATS_PRIOR, RATE_SPREAD);
  makePrior(EFFORT_PRIOR, EFFORT_SPREAD);
}

function makePrior(chances: Row<f32>, spread: f64): void {
  let sum: f64 = 0;
  for (let i = 0; i < RATES; i++) sum += prior(i, spread);
  for (let i = 0; i < RATES; i++) chances[i] = <f32>(prior(i, spread) / sum);
}

function prior(i: i32, spread: f64): f64 {
  const rate = <f64>rateOf(i);
  const x = Math.log(rate / USUAL_RATE) / spread;
  return Math.exp(-0.5 * x * x) / rate;
}

function rateOf(i: i32): f32 {
  return <f32>(FIRST + i) * BIN_PER_MINUTE;
}

/**
 * Follows the rate by the SERIES of the window that ends at `end`: writes rate and confidence.
 * @param n points of the series, even
 * @param fastest highest rate that the series can show, per minute
 * @param share how far the series are what they seem
 * @param trust how far there are beats at all, and with them the breath that is remembered
 * @param resolution standard deviation of what the series hold beside breath, noise and drift
 * @returns false where the series show nothing at all
 */
export function followBreath(
  state: BreathState,
  source: i32,
  end: f64,
  n: i32,
  fastest: f32,
  share: f32,
  trust: f32,
  resolution: v128,
  to: Estimate,
): bool {
  countLanes(popcnt(i32x4.bitmask(lanesOf(source))), n);
  const degree = source === FROM_EFFORT ? EFFORT_DRIFT : BEATS_DRIFT;
  const drift = removeDrift(n, degree);
  keepNewest(n);
  seriesSpectra(n, f32x4.add(f32x4.mul(drift, f32x4.splat(ROUGHNESS)), resolution));
  // Each degree of the drift holds as much of the spectrum as a bin of white noise (3/8: the Hann window's mean square).
  v128.store(SLOWEST.at(0), f32x4.mul(drift, f32x4.splat(<f32>n * <f32>Math.sqrt(0.375 / <f64>degree))));
  findBlend(source);
  const top = min(LAST, <i32>(fastest / BIN_PER_MINUTE));
  const total = whiten(2 * top);
  // A series of absurd values, whose power is not finite, says nothing either.
  const sound = v128.and(f32x4.gt(total, f32x4.splat(0)), f32x4.lt(total, f32x4.splat(Infinity)));
  const alive = v128.and(lanesOf(source), sound);
  if (!v128.any_true(alive)) return false;
  // A line that explains everything holds n / 256 / 1.5 of all power in its highest bin (1.5 is the Hann window's width).
  const scale = f32x4.div(f32x4.splat(<f32>384 / <f32>n), total);
  const track = state.trackAt(source);
  predict(track, end, source === FROM_EFFORT ? EFFORT_PRIOR : BEATS_PRIOR, trust);
  const values = min<f32>(1, fastest / ALL_RATES);
  const exponent = <i32>((EXPONENT * share * values * <f32>n) / <f32>POINTS + <f32>0.5);
  weigh(track, top, v128.and(scale, alive), v128.and(f32x4.splat(SERIES_ODDS), alive), source, exponent);
  answer(track.posterior, source === FROM_PPG ? certainMassOf(track.shown) : CERTAIN_MASS, to);
  // The posterior remembers a breath for minutes after a belt has been taken off; its noise tells nothing for or against it.
  to.confidence *= <f64>(source === FROM_EFFORT ? min<f32>(1, track.shown / ENOUGH_SHOWN) : trust);
  // Widths also swing with the vessels' tension, whether the breath goes on or not.
  doubtHeld(track, n, v128.and(alive, i32x4(-1, -1, -1, 0)), to);
  to.confidence = calibrated(to.confidence);
  return true;
}

/** Lanes that hold a series, all bits set: intervals, heights and baselines, and widths of pulses; or the effort. */
function lanesOf(source: i32): v128 {
  if (source === FROM_EFFORT) return i32x4(-1, 0, 0, 0);
  return i32x4(-1, -1, -1, source === FROM_PPG ? -1 : 0);
}

/**
 * Least and greatest steepness of a lane's noise (power falls as frequency^-steepness): intervals are nearly white,
 * heights, widths and effort drift, baselines wander as a random walk or worse.
 */
function gentlest(source: i32): v128 {
  return source === FROM_EFFORT
    ? f32x4.splat(0)
    : f32x4(GENTLEST_INTERVALS, GENTLEST_HEIGHTS, GENTLEST_BASELINES, GENTLEST_HEIGHTS);
}

function steepest(source: i32): v128 {
  return source === FROM_EFFORT
    ? f32x4.splat(STEEPEST_EFFORT)
    : f32x4(STEEPEST_INTERVALS, STEEPEST_HEIGHTS, STEEPEST_BASELINES, STEEPEST_HEIGHTS);
}

/**
 * Finds how steeply each lane's noise falls, and writes BLEND, the polynomial that levels it: a blend of two powers of
 * frequency. A slow breath lies where noise shows its slope: what falls towards zero frequency as well, so that the drift is small,
 * is no noise. In light it may be: the vessels' own slow waves do that, too.
 */
function findBlend(source: i32): void {
  v128.store(LOW.at(0), meanAmplitude(LOW_FROM, LOW_TO));
  v128.store(HIGH.at(0), meanAmplitude(HIGH_FROM, HIGH_TO));
  v128.store(GENTLEST.at(0), gentlest(source));
  v128.store(STEEPEST.at(0), steepest(source));
  for (let lane = 0; lane < 4; lane++) {
    const high = HIGH[lane];
    let steepness = fall(LOW[lane], <f32>(LOW_FROM + LOW_TO) / 2, high);
    if (source !== FROM_PPG) steepness = min(steepness, fall(SLOWEST[lane], DRIFT_BIN, high));
    blend(lane, max(GENTLEST[lane], min(steepness, STEEPEST[lane])));
  }
}

/** How steeply power falls from the mean amplitude `low`, at bin `from`, to `high` in the upper bins; 0 if either is zero. */
function fall(low: f32, from: f32, high: f32): f32 {
  if (!(low > 0 && high > 0)) return 0;
  const span = Math.log((0.5 * <f64>(HIGH_FROM + HIGH_TO)) / <f64>from);
  return <f32>((2 * Math.log(<f64>low / <f64>high)) / span);
}

function meanAmplitude(from: i32, to: i32): v128 {
  let sum = f32x4.splat(0);
  for (let k = from; k <= to; k++) sum = f32x4.add(sum, f32x4.sqrt(POWER[k]));
  return f32x4.mul(sum, f32x4.splat(1 / <f32>(to - from + 1)));
}

/** Coefficients of the powers 0 to 4 of frequency in that lane, whose sum is about frequency^steepness. */
function blend(lane: i32, steepness: f32): void {
  const coefficients = changetype<Row<f32>>(BLEND.at(0));
  for (let power = 0; power < 5; power++) {
    coefficients[4 * power + lane] = max<f32>(0, <f32>1 - abs(<f32>power - steepness));
  }
}

/** Levels the spectra up to bin `last`, in place, and empties what lies above; returns their sums. */
function whiten(last: i32): v128 {
  let sum = f32x4.splat(0);
  for (let k = 0; k <= 2 * LAST; k++) {
    const inside = k >= LOWEST_BIN && k <= last;
    const level = inside ? f32x4.mul(POWER[k], polynomial(<f32>k / <f32>16)) : f32x4.splat(0);
    POWER[k] = level;
    sum = f32x4.add(sum, level);
  }
  return sum;
}

function polynomial(x: f32): v128 {
  const f = f32x4.splat(x);
  let y = BLEND[4];
  y = f32x4.add(f32x4.mul(y, f), BLEND[3]);
  y = f32x4.add(f32x4.mul(y, f), BLEND[2]);
  y = f32x4.add(f32x4.mul(y, f), BLEND[1]);
  return f32x4.add(f32x4.mul(y, f), BLEND[0]);
}

/** Lets the posterior of the last answer drift into PREDICTED. */
function predict(track: Track, end: f64, usual: Row<f32>, trust: f32): void {
  const known = track.end > 0 && end - track.end < FORGET;
  const from = known ? track.posterior : usual;
  if (!known) track.forget();
  const jump: f32 = JUMP + (<f32>1 - trust) * LOST;
  for (let i = 0; i < RATES; i++) {
    const left = from[max(i - 1, 0)];
    const right = from[min(i + 1, RATES - 1)];
    const drifted: f32 = DRIFT * (left + right) + (<f32>1 - <f32>2 * DRIFT) * from[i];
    PREDICTED[i] = (<f32>1 - jump) * drifted + jump * usual[i];
  }
  track.end = end;
}

/** Multiplies the prediction by the eighth root of the likelihoods, and writes the posterior. */
function weigh(track: Track, top: i32, scale: v128, odds: v128, source: i32, exponent: i32): void {
  // In an ECG a slow breath turns the heart's axis as well; intervals that swing alone are the blood pressure's. It changes the widths, too.
  const pressureOdds: f32 = source === FROM_ECG ? 0 : PRESSURE_ODDS;
  const slowOdds = source === FROM_EFFORT ? odds : f32x4.mul(odds, f32x4(pressureOdds, 1, 1, pressureOdds));
  const harmonic = f32x4.splat(source === FROM_EFFORT ? EFFORT_HARMONIC : HARMONIC);
  let sum: f32 = 0;
  for (let i = 0; i < RATES; i++) {
    const k = FIRST + i;
    const likelihood: f32 =
      k > top
        ? <f32>1
        : product(eighthRoot(k > PRESSURE_BIN ? odds : slowOdds, sinusoid(k, scale, harmonic, exponent)));
    const p = PREDICTED[i] * likelihood;
    PREDICTED[i] = p;
    sum += p;
  }
  for (let i = 0; i < RATES; i++) track.posterior[i] = PREDICTED[i] / sum;
  const most: f32 = source === FROM_PPG ? MUCH_SHOWN : MOST_SHOWN;
  track.shown = max<f32>(0, min<f32>(most, track.shown + <f32>Math.log(<f64>sum) - FADING));
}

/** (1 - explained)^-exponent of each lane, with that part of the harmonic. */
function sinusoid(k: i32, scale: v128, harmonic: v128, exponent: i32): v128 {
  const here = f32x4.mul(POWER[k], scale);
  const twice = f32x4.mul(f32x4.mul(POWER[2 * k], scale), harmonic);
  const explained = f32x4.add(here, f32x4.pmin(twice, f32x4.mul(here, f32x4.splat(HARMONIC_LIMIT))));
  const rest = f32x4.sub(f32x4.splat(1), explained);
  const inverse = f32x4.div(
    f32x4.splat(1),
    f32x4.pmax(rest, f32x4(UNEXPLAINED, UNEXPLAINED, UNEXPLAINED, UNEXPLAINED_WIDTHS)),
  );
  return power(inverse, exponent);
}

/** x^n by squaring. */
function power(x: v128, n: i32): v128 {
  let y = f32x4.splat(1);
  let square = x;
  while (n) {
    if (n & 1) y = f32x4.mul(y, square);
    square = f32x4.mul(square, square);
    n >>= 1;
  }
  return y;
}

/** Eighth root of 1 + odds x. */
function eighthRoot(odds: v128, x: v128): v128 {
  return f32x4.sqrt(f32x4.sqrt(f32x4.sqrt(f32x4.add(f32x4.splat(1), f32x4.mul(odds, x)))));
}

function product(x: v128): f32 {
  return f32x4.extract_lane(x, 0) * f32x4.extract_lane(x, 1) * f32x4.extract_lane(x, 2) * f32x4.extract_lane(x, 3);
}

/**
 * Mass from which the stretch is trusted, by how clearly the light has shown a breath of late. Light without any breath gives stretches of more
 * than half as well, where the usual rates lie; a breath that it shows clearly is right with less.
 */
function certainMassOf(shown: f32): f64 {
  const part = max<f64>(0, (2 * <f64>shown) / <f64>MUCH_SHOWN - 1);
  return LITTLE_SHOWN_MASS + part * (MUCH_SHOWN_MASS - LITTLE_SHOWN_MASS);
}

/** The heaviest stretch of the posterior: its mean, and by its mass the confidence, which is half at that mass. */
function answer(posterior: Row<f32>, half: f64, to: Estimate): void {
  const centre = heaviest(posterior);
  let mass: f64 = 0;
  let moment: f64 = 0;
  for (let i = max(0, centre - HALF_STRETCH); i <= min(RATES - 1, centre + HALF_STRETCH); i++) {
    const q = <f64>posterior[i];
    mass += q;
    moment += q * <f64>rateOf(i);
  }
  to.value = moment / mass;
  to.confidence = certainty(mass, half);
}

/** Centre of the heaviest stretch. */
function heaviest(posterior: Row<f32>): i32 {
  let mass: f32 = 0;
  let best: f32 = 0;
  let centre = 0;
  for (let i = -HALF_STRETCH; i < RATES; i++) {
    if (i + HALF_STRETCH < RATES) mass += posterior[i + HALF_STRETCH];
    if (i > HALF_STRETCH) mass -= posterior[i - HALF_STRETCH - 1];
    if (mass > best) centre = max(0, i);
    best = max(best, mass);
  }
  return centre;
}

/**
 * P(error within 3) by the stretch's mass. The mass is cautious, as the likelihoods are tempered: on recordings with
 * reference, stretches of more than half are right 19 times of 20. Lighter stretches are all that noise gives: they stay
 * about as they are.
 */
function certainty(mass: f64, half: f64): f64 {
  if (mass < half) return (0.5 * mass) / half;
  const rest = (1 - mass) / (1 - half);
  return 1 - 0.5 * rest * rest * rest;
}

/** P(error within 3) of a breath that is trusted, after all doubts: on recordings with reference, 0.55 is right 9 times of 10. */
function calibrated(confidence: f64): f64 {
  if (confidence < 0.5) return confidence;
  const rest = 2 * (1 - confidence);
  return 1 - 0.5 * rest * Math.sqrt(rest);
}
