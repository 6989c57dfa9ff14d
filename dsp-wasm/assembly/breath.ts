import { POINTS, POWER, seriesSpectra } from './breath_spectrum';
import { removeDrift } from './drift';
import { countLanes } from './lanes';
import { OUT_CONFIDENCE, OUT_VALUE, RR_STATE, SCRATCH, TABLES } from './layout';

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
/** Rates followed: bins 5 to 49, 4.7 to 46 per minute. */
const FIRST: i32 = 5;
const RATES: i32 = 45;
const LAST: i32 = FIRST + RATES - 1;
/** Below bin 2 (1.9 per minute) lie trend and window leakage. */
const LOWEST: i32 = 2;

/**
 * Exponent of the sinusoid's likelihood for a whole window: half of its independent values less two. Those are the bins in
 * which breath can lie, some twenty, of two values each, of which a breath that varies fills half. Windows overlap, so that
 * each is evidence only in part: the likelihood's eighth root is taken.
 */
const EXPONENT: f32 = 9;
/** Odds that a series shows breathing of a given rate: three in ten that it shows any, over all rates. */
const ODDS: f32 = 0.3 / 45;
/** The most that a rate can explain, so that no single series decides alone for ever; the harmonic's share. */
const UNEXPLAINED: f32 = 0.1;
const HARMONIC: f32 = 0.3;
/** Power that must be at the rate itself for the harmonic to count. */
const FUNDAMENTAL: f32 = 0.05;
/** Beats are placed and measured to about 0.3 % (3 ms of a second): what is less tells of the sampling. */
const RESOLUTION: f32 = 0.003;
/** Chance that the rate is suddenly any other; silence after which nothing is known, s. */
const JUMP: f32 = 0.01;
const FORGET: f64 = 32;
/**
 * Rates at rest: log-normal about 15 per minute, half of a natural logarithm wide, so that 5 and 45 are still
 * possible.
 */
const USUAL: f64 = 15;
const SPREAD: f64 = 0.5;
/** Half width of the stretch that is the answer, bins: 2.8 per minute. */
const HALF_STRETCH: i32 = 3;

/**
 * Bins that show the noise's slope: 2.5 to 6 and 24 to 45 per minute, mostly free of breathing, or of its line's
 * width.
 */
const LOW_FROM: i32 = 3;
const LOW_TO: i32 = 6;
const HIGH_FROM: i32 = 26;
const HIGH_TO: i32 = 47;

/**
 * Degree of the drift of what beats show: a heart that calms down, a hand that warms up. It follows one swing in a window
 * and leaves two.
 */
const BEATS_DRIFT: i32 = 2;
/**
 * Degree of the drift of an effort, taken off likewise: it follows two and a half swings in a window and leaves three, the fewest that
 * show a rhythm, nearly whole.
 */
const EFFORT_DRIFT: i32 = 5;

/** Trackers of a session, one per estimator. State: time of the last answer (f64), posterior (RATES x f32). */
export const TRACK_PPG: i32 = 0;
export const TRACK_ECG: i32 = 1;
export const TRACK_RESP: i32 = 2;
const TRACKS: usize = RR_STATE + 1168;
const TRACK_BYTES: usize = 192;
const POSTERIOR: usize = 8;

/** Prior chance of each rate, RATES x f32: at the end of the tables. */
const PRIOR: usize = TABLES + 0xff00;

// Scratch, after breath_spectrum.ts.
const BLEND: usize = SCRATCH + 0xe000; // five coefficients x four lanes
const PREDICTED: usize = SCRATCH + 0xe100; // RATES x f32

export function makeRatePrior(): void {
  let sum: f64 = 0;
  for (let i = 0; i < RATES; i++) sum += prior(i);
  for (let i = 0; i < RATES; i++) store<f32>(PRIOR + (<usize>i << 2), <f32>(prior(i) / sum));
}

function prior(i: i32): f64 {
  const rate = <f64>rateOf(i);
  const x = Math.log(rate / USUAL) / SPREAD;
  return Math.exp(-0.5 * x * x) / rate;
}

// @ts-ignore: decorator
@inline
function rateOf(i: i32): f32 {
  return <f32>(FIRST + i) * BIN_PER_MINUTE;
}

/**
 * Follows the rate by the SERIES (modulation.ts) of the window that ends at `end`, and writes OUT_VALUE and
 * OUT_CONFIDENCE.
 * @param n points of the series, even
 * @param fastest highest rate that the series can show, per minute
 * @param share how far the series are what they seem
 * @returns 1, or 0 where the series show nothing at all
 */
export function followBreath(slot: usize, track: i32, end: f64, n: i32, fastest: f32, share: f32): i32 {
  const state = slot + TRACKS + <usize>track * TRACK_BYTES;
  countLanes(popcnt(i32x4.bitmask(lanesOf(track))), n);
  seriesSpectra(n, f32x4.add(removeDrift(n, track == TRACK_RESP ? EFFORT_DRIFT : BEATS_DRIFT), resolutionOf(track)));
  measureSlopes(track);
  const top = min(LAST, <i32>(fastest / BIN_PER_MINUTE));
  const total = whiten(2 * top);
  // A series of absurd values, whose power is not finite, says nothing either.
  const sound = v128.and(f32x4.gt(total, f32x4.splat(0)), f32x4.lt(total, f32x4.splat(Infinity)));
  const alive = v128.and(lanesOf(track), sound);
  if (!v128.any_true(alive)) return 0;
  // A line that explains everything holds n / 256 / 1.5 of all power in its highest bin (1.5 is the Hann window's width).
  const scale = f32x4.div(f32x4.splat(<f32>384 / <f32>n), total);
  predict(state, end);
  const exponent = <i32>((EXPONENT * share * <f32>n) / <f32>POINTS + <f32>0.5);
  weigh(state, top, v128.and(scale, alive), v128.and(f32x4.splat(ODDS), alive), exponent);
  return answer(slot, state);
}

/** Lanes that hold a series, all bits set: intervals, heights and, of a PPG, baselines; or the effort. */
// @ts-ignore: decorator
@inline
function lanesOf(track: i32): v128 {
  if (track == TRACK_RESP) return i32x4(-1, 0, 0, 0);
  return track == TRACK_ECG ? i32x4(-1, -1, 0, 0) : i32x4(-1, -1, -1, 0);
}

/** Standard deviation of what the series hold beside breath, noise and drift. */
// @ts-ignore: decorator
@inline
function resolutionOf(track: i32): v128 {
  return f32x4.splat(track == TRACK_RESP ? 0 : RESOLUTION);
}

/**
 * Least and greatest steepness of a lane's noise (power falls as frequency^-steepness): intervals are nearly white,
 * heights and effort drift, baselines wander as a random walk or worse.
 */
// @ts-ignore: decorator
@inline
function gentlest(track: i32): v128 {
  return track == TRACK_RESP ? f32x4.splat(0) : f32x4(0.5, 1, 1, 0);
}

// @ts-ignore: decorator
@inline
function steepest(track: i32): v128 {
  return track == TRACK_RESP ? f32x4.splat(2) : f32x4(2, 3, 4, 0);
}

/**
 * Finds how steeply each lane's noise falls, and writes the polynomial that levels it: a blend of two powers of
 * frequency.
 */
function measureSlopes(track: i32): void {
  v128.store(BLEND, meanAmplitude(LOW_FROM, LOW_TO));
  v128.store(BLEND, meanAmplitude(HIGH_FROM, HIGH_TO), 16);
  v128.store(BLEND, gentlest(track), 32);
  v128.store(BLEND, steepest(track), 48);
  const span = Math.log(<f64>(HIGH_FROM + HIGH_TO) / <f64>(LOW_FROM + LOW_TO));
  for (let lane: usize = 0; lane < 16; lane += 4) {
    const low = <f64>load<f32>(BLEND + lane);
    const high = <f64>load<f32>(BLEND + lane, 16);
    const steepness = low > 0 && high > 0 ? (2 * Math.log(low / high)) / span : 0;
    blend(lane, <f32>max(<f64>load<f32>(BLEND + lane, 32), min(steepness, <f64>load<f32>(BLEND + lane, 48))));
  }
}

function meanAmplitude(from: i32, to: i32): v128 {
  let sum = f32x4.splat(0);
  for (let k = from; k <= to; k++) sum = f32x4.add(sum, f32x4.sqrt(v128.load(POWER + (<usize>k << 4))));
  return f32x4.mul(sum, f32x4.splat(1 / <f32>(to - from + 1)));
}

/** Coefficients of the powers 0 to 4 of frequency in that lane, whose sum is about frequency^steepness. */
function blend(lane: usize, steepness: f32): void {
  for (let power: f32 = 0; power < 5; power++) {
    store<f32>(BLEND + (<usize>power << 4) + lane, max<f32>(0, <f32>1 - abs(power - steepness)));
  }
}

/** Levels the spectra up to bin `last`, in place, and empties what lies above; returns their sums. */
function whiten(last: i32): v128 {
  let sum = f32x4.splat(0);
  for (let k = 0; k <= 2 * LAST; k++) {
    const at = POWER + (<usize>k << 4);
    const inside = k >= LOWEST && k <= last;
    const level = inside ? f32x4.mul(v128.load(at), polynomial(<f32>k / <f32>16)) : f32x4.splat(0);
    v128.store(at, level);
    sum = f32x4.add(sum, level);
  }
  return sum;
}

// @ts-ignore: decorator
@inline
function polynomial(x: f32): v128 {
  const f = f32x4.splat(x);
  let y = v128.load(BLEND, 64);
  y = f32x4.add(f32x4.mul(y, f), v128.load(BLEND, 48));
  y = f32x4.add(f32x4.mul(y, f), v128.load(BLEND, 32));
  y = f32x4.add(f32x4.mul(y, f), v128.load(BLEND, 16));
  return f32x4.add(f32x4.mul(y, f), v128.load(BLEND));
}

/** Lets the posterior of the last answer drift (0.66 per minute a step) into PREDICTED. */
function predict(state: usize, end: f64): void {
  const known = load<f64>(state) > 0 && end - load<f64>(state) < FORGET;
  const from = known ? state + POSTERIOR : PRIOR;
  for (let i = 0; i < RATES; i++) {
    const left = load<f32>(from + (<usize>max(i - 1, 0) << 2));
    const right = load<f32>(from + (<usize>min(i + 1, RATES - 1) << 2));
    const drifted: f32 = <f32>0.25 * (left + right) + <f32>0.5 * load<f32>(from + (<usize>i << 2));
    store<f32>(PREDICTED + (<usize>i << 2), (<f32>1 - JUMP) * drifted + JUMP * load<f32>(PRIOR + (<usize>i << 2)));
  }
  store<f64>(state, end);
}

/** Multiplies the prediction by the eighth root of the likelihoods, and writes the posterior. */
function weigh(state: usize, top: i32, scale: v128, odds: v128, exponent: i32): void {
  let sum: f32 = 0;
  for (let i = 0; i < RATES; i++) {
    const k = FIRST + i;
    const likelihood: f32 = k > top ? <f32>1 : product(eighthRoot(odds, sinusoid(k, scale, exponent)));
    const p = load<f32>(PREDICTED + (<usize>i << 2)) * likelihood;
    store<f32>(PREDICTED + (<usize>i << 2), p);
    sum += p;
  }
  for (let i: usize = 0; i < <usize>RATES << 2; i += 4) {
    store<f32>(state + POSTERIOR + i, load<f32>(PREDICTED + i) / sum);
  }
}

/** (1 - explained)^-exponent of each lane. */
// @ts-ignore: decorator
@inline
function sinusoid(k: i32, scale: v128, exponent: i32): v128 {
  const here = f32x4.mul(v128.load(POWER + (<usize>k << 4)), scale);
  const twice = f32x4.mul(v128.load(POWER + (<usize>(2 * k) << 4)), scale);
  const harmonic = v128.and(f32x4.mul(twice, f32x4.splat(HARMONIC)), f32x4.gt(here, f32x4.splat(FUNDAMENTAL)));
  const rest = f32x4.sub(f32x4.splat(1), f32x4.add(here, harmonic));
  const inverse = f32x4.div(f32x4.splat(1), f32x4.pmax(rest, f32x4.splat(UNEXPLAINED)));
  return power(inverse, exponent);
}

/** x^n by squaring. */
// @ts-ignore: decorator
@inline
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

/** Of 1 + odds x. */
// @ts-ignore: decorator
@inline
function eighthRoot(odds: v128, x: v128): v128 {
  return f32x4.sqrt(f32x4.sqrt(f32x4.sqrt(f32x4.add(f32x4.splat(1), f32x4.mul(odds, x)))));
}

// @ts-ignore: decorator
@inline
function product(x: v128): f32 {
  return f32x4.extract_lane(x, 0) * f32x4.extract_lane(x, 1) * f32x4.extract_lane(x, 2) * f32x4.extract_lane(x, 3);
}

/** The heaviest stretch of the posterior: its mean and its mass. */
function answer(slot: usize, state: usize): i32 {
  const p = state + POSTERIOR;
  let mass: f32 = 0;
  let best: f32 = 0;
  let centre = 0;
  for (let i = -HALF_STRETCH; i < RATES; i++) {
    if (i + HALF_STRETCH < RATES) mass += load<f32>(p + (<usize>(i + HALF_STRETCH) << 2));
    if (i > HALF_STRETCH) mass -= load<f32>(p + (<usize>(i - HALF_STRETCH - 1) << 2));
    if (mass > best) centre = max(0, i);
    best = max(best, mass);
  }
  writeMean(slot, p, centre);
  return 1;
}

/** Writes mean and certainty of the stretch about rate `centre`. */
function writeMean(slot: usize, p: usize, centre: i32): void {
  let mass: f64 = 0;
  let moment: f64 = 0;
  for (let i = max(0, centre - HALF_STRETCH); i <= min(RATES - 1, centre + HALF_STRETCH); i++) {
    const q = <f64>load<f32>(p + (<usize>i << 2));
    mass += q;
    moment += q * <f64>rateOf(i);
  }
  store<f64>(slot + OUT_VALUE, moment / mass);
  store<f64>(slot + OUT_CONFIDENCE, certainty(mass));
}

/**
 * P(error within 3) by the stretch's mass. The mass is cautious, as the likelihoods are tempered: on recordings with
 * reference, stretches of more than half are right 19 times of 20. Those of less are all that noise gives: they stay as
 * they are.
 */
function certainty(mass: f64): f64 {
  const rest = 1 - mass;
  return mass < 0.5 ? mass : 1 - 4 * rest * rest * rest;
}
