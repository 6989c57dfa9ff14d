import { BreathState, RATES, Track } from '../memory/breath_state';
import { countLanes } from '../memory/lanes';
import { Estimate } from '../memory/map';
import { Row } from '../memory/row';
import { POINTS, POWER, PREDICTED, Series } from './scratch';
import { meanAmplitude, removeDrift, spectra, whiten } from './spectrum';
import { doubtHeld } from './swing';
import { CONFIDENCE, EVIDENCE, MEMORY, PRIOR, SPECTRUM } from './tuning';

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

/** Prior probability of each rate, where beats show the breath and where an effort does. */
const BEATS_PRIOR = changetype<Row<f32>>(memory.data(RATES * 4, 16));
const EFFORT_PRIOR = changetype<Row<f32>>(memory.data(RATES * 4, 16));

export function makeRatePriors(): void {
  makePrior(BEATS_PRIOR, PRIOR.BEATS_SPREAD);
  makePrior(EFFORT_PRIOR, PRIOR.EFFORT_SPREAD);
}

function makePrior(chances: Row<f32>, spread: f64): void {
  let sum: f64 = 0;
  for (let i = 0; i < RATES; i++) sum += prior(i, spread);
  for (let i = 0; i < RATES; i++) chances[i] = <f32>(prior(i, spread) / sum);
}

/** Log-normal, up to a factor. */
function prior(i: i32, spread: f64): f64 {
  const rate = <f64>rateOf(i);
  const x = Math.log(rate / PRIOR.USUAL_RATE) / spread;
  return Math.exp(-0.5 * x * x) / rate;
}

function rateOf(i: i32): f32 {
  return <f32>(FIRST + i) * BIN_PER_MINUTE;
}

/**
 * Follows the rate by the series of the window that ends at `end`: writes rate and confidence. Takes the drift off the series.
 * @returns false where the series show nothing at all
 */
export function followBreath(state: BreathState, source: i32, end: f64, series: Series, to: Estimate): bool {
  if (!series.n) return false;
  countLanes(popcnt(i32x4.bitmask(series.lanes)), series.n);
  const isEffort = source === FROM_EFFORT;
  const degree = isEffort ? SPECTRUM.EFFORT_DRIFT : SPECTRUM.BEATS_DRIFT;
  const drift = removeDrift(series, degree);
  spectra(series, f32x4.add(f32x4.mul(drift, f32x4.splat(SPECTRUM.ROUGHNESS)), series.resolution));
  // Each degree of the drift holds as much of the spectrum as a bin of white noise (3/8: the Hann window's mean square).
  const slowest = f32x4.mul(drift, f32x4.splat(<f32>series.n * <f32>Math.sqrt(0.375 / <f64>degree)));
  const top = min(LAST, <i32>(series.fastest / BIN_PER_MINUTE));
  const sound = whiten(series.n, 2 * top, steepnessOf(slowest, source));
  const alive = v128.and(series.lanes, sound);
  if (!v128.any_true(alive)) return false;
  const track = state.trackAt(source);
  predict(track, end, isEffort ? EFFORT_PRIOR : BEATS_PRIOR, series.trust);
  const values = min<f32>(1, series.fastest / EVIDENCE.ALL_RATES);
  const exponent = <i32>((EVIDENCE.EXPONENT * series.share * values * <f32>series.n) / <f32>POINTS + <f32>0.5);
  weigh(track, top, v128.and(f32x4.splat(EVIDENCE.SERIES_ODDS), alive), source, exponent);
  answer(track.posterior, source === FROM_PPG ? certainMassOf(track.shown) : CONFIDENCE.CERTAIN_MASS, to);
  // The posterior remembers a breath for minutes after a belt has been taken off; its noise tells nothing for or against it.
  to.confidence *= <f64>(isEffort ? min<f32>(1, track.shown / CONFIDENCE.ENOUGH_SHOWN) : series.trust);
  // Widths also vary with the tension of the vessels, whether the breath goes on or not.
  doubtHeld(track, series, v128.and(alive, i32x4(-1, -1, -1, 0)), to);
  to.confidence = calibrated(to.confidence);
  return true;
}

/**
 * How steeply the noise of each lane falls, from 0 to 4: intervals are nearly white, heights, widths and effort drift, baselines wander as a
 * random walk or worse. A slow breath lies where noise shows its slope: power that falls towards zero frequency as well, so that the drift
 * is small, is no noise. In light it may be: the vessels' own slow waves do that, too.
 * @param slowest mean amplitude of the drift in the spectrum
 */
function steepnessOf(slowest: v128, source: i32): v128 {
  const low = meanAmplitude(SPECTRUM.LOW_FROM, SPECTRUM.LOW_TO);
  const high = meanAmplitude(SPECTRUM.HIGH_FROM, SPECTRUM.HIGH_TO);
  const a = fall(f32x4.extract_lane(low, 0), f32x4.extract_lane(high, 0), f32x4.extract_lane(slowest, 0), source);
  if (source === FROM_EFFORT) return f32x4.splat(max<f32>(0, min(a, SPECTRUM.STEEPEST_EFFORT)));
  const b = fall(f32x4.extract_lane(low, 1), f32x4.extract_lane(high, 1), f32x4.extract_lane(slowest, 1), source);
  const c = fall(f32x4.extract_lane(low, 2), f32x4.extract_lane(high, 2), f32x4.extract_lane(slowest, 2), source);
  const d = fall(f32x4.extract_lane(low, 3), f32x4.extract_lane(high, 3), f32x4.extract_lane(slowest, 3), source);
  const gentle = SPECTRUM.GENTLEST_HEIGHTS;
  const steep = SPECTRUM.STEEPEST_HEIGHTS;
  const atLeast = f32x4.pmax(f32x4(a, b, c, d), f32x4(SPECTRUM.GENTLEST_INTERVALS, gentle, gentle, gentle));
  return f32x4.pmin(atLeast, f32x4(SPECTRUM.STEEPEST_INTERVALS, steep, SPECTRUM.STEEPEST_BASELINES, steep));
}

/** How steeply power falls from the mean amplitude `low` to `high`, and if not from light, at most as from the amplitude of the drift. */
function fall(low: f32, high: f32, slowest: f32, source: i32): f32 {
  const steepness = fallFrom(low, <f32>(SPECTRUM.LOW_FROM + SPECTRUM.LOW_TO) / 2, high);
  return source === FROM_PPG ? steepness : min(steepness, fallFrom(slowest, SPECTRUM.DRIFT_BIN, high));
}

/** How steeply power falls from the mean amplitude `low`, at bin `from`, to `high` in the upper bins; 0 if either is zero. */
function fallFrom(low: f32, from: f32, high: f32): f32 {
  if (!(low > 0 && high > 0)) return 0;
  const span = Math.log((0.5 * <f64>(SPECTRUM.HIGH_FROM + SPECTRUM.HIGH_TO)) / <f64>from);
  return <f32>((2 * Math.log(<f64>low / <f64>high)) / span);
}

/** Lets the posterior of the last answer drift into PREDICTED. */
function predict(track: Track, end: f64, usual: Row<f32>, trust: f32): void {
  const known = track.end > 0 && end - track.end < MEMORY.FORGET;
  const from = known ? track.posterior : usual;
  if (!known) track.forget();
  const jump: f32 = MEMORY.JUMP + (<f32>1 - trust) * MEMORY.LOST;
  for (let i = 0; i < RATES; i++) {
    const left = from[max(i - 1, 0)];
    const right = from[min(i + 1, RATES - 1)];
    const drifted: f32 = MEMORY.DRIFT * (left + right) + (<f32>1 - <f32>2 * MEMORY.DRIFT) * from[i];
    PREDICTED[i] = (<f32>1 - jump) * drifted + jump * usual[i];
  }
  track.end = end;
}

/** Multiplies the prediction by the eighth root of the likelihoods, and writes the posterior. */
function weigh(track: Track, top: i32, odds: v128, source: i32, exponent: i32): void {
  const isEffort = source === FROM_EFFORT;
  // In an ECG a slow breath turns the heart's axis as well; intervals that vary alone are the blood pressure's. It changes the widths, too.
  const pressureOdds: f32 = source === FROM_ECG ? 0 : EVIDENCE.PRESSURE_ODDS;
  const slowOdds = isEffort ? odds : f32x4.mul(odds, f32x4(pressureOdds, 1, 1, pressureOdds));
  const harmonic = f32x4.splat(isEffort ? EVIDENCE.EFFORT_HARMONIC : EVIDENCE.HARMONIC);
  let sum: f32 = 0;
  for (let i = 0; i < RATES; i++) {
    const k = FIRST + i;
    const likelihood: f32 =
      k > top
        ? <f32>1
        : product(eighthRoot(k > EVIDENCE.PRESSURE_BIN ? odds : slowOdds, sinusoid(k, harmonic, exponent)));
    const p = PREDICTED[i] * likelihood;
    PREDICTED[i] = p;
    sum += p;
  }
  for (let i = 0; i < RATES; i++) track.posterior[i] = PREDICTED[i] / sum;
  const most: f32 = source === FROM_PPG ? CONFIDENCE.MUCH_SHOWN : CONFIDENCE.MOST_SHOWN;
  track.shown = max<f32>(0, min<f32>(most, track.shown + <f32>Math.log(<f64>sum) - CONFIDENCE.FADING));
}

/** (1 - explained)^-exponent of each lane, with that part of the harmonic. */
function sinusoid(k: i32, harmonic: v128, exponent: i32): v128 {
  const here = POWER[k];
  const twice = f32x4.mul(POWER[2 * k], harmonic);
  const explained = f32x4.add(here, f32x4.pmin(twice, f32x4.mul(here, f32x4.splat(EVIDENCE.HARMONIC_LIMIT))));
  const least = EVIDENCE.UNEXPLAINED;
  const rest = f32x4.sub(f32x4.splat(1), explained);
  const limited = f32x4.pmax(rest, f32x4(least, least, least, EVIDENCE.UNEXPLAINED_WIDTHS));
  return power(f32x4.div(f32x4.splat(1), limited), exponent);
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
  const part = max<f64>(0, (2 * <f64>shown) / <f64>CONFIDENCE.MUCH_SHOWN - 1);
  return CONFIDENCE.LITTLE_SHOWN_MASS + part * (CONFIDENCE.MUCH_SHOWN_MASS - CONFIDENCE.LITTLE_SHOWN_MASS);
}

/** The heaviest stretch of the posterior: its mean, and by its mass the confidence, which is half at that mass. */
function answer(posterior: Row<f32>, half: f64, to: Estimate): void {
  const centre = heaviest(posterior);
  let mass: f64 = 0;
  let moment: f64 = 0;
  for (let i = max(0, centre - MEMORY.HALF_STRETCH); i <= min(RATES - 1, centre + MEMORY.HALF_STRETCH); i++) {
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
  for (let i = -MEMORY.HALF_STRETCH; i < RATES; i++) {
    if (i + MEMORY.HALF_STRETCH < RATES) mass += posterior[i + MEMORY.HALF_STRETCH];
    if (i > MEMORY.HALF_STRETCH) mass -= posterior[i - MEMORY.HALF_STRETCH - 1];
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
