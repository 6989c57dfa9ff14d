import { TRUSTED } from '../grid/tuning';
import { UNTRUSTED } from '../math/logistic';
import { BreathState, RATES, Track } from '../memory/breath_state';
import { countLanes } from '../memory/lanes';
import { Estimate } from '../memory/map';
import { Row } from '../memory/row';
import { answer, notAlias } from './answer';
import { LIKELIHOOD, POINTS, RR_WINDOW, Series, SHARE } from './scratch';
import { BIN_PER_MINUTE, FIRST, FROM_EFFORT, FROM_PPG, LAST } from './source';
import { explainedShares, meanAmplitude, removeDrift, spectra } from './spectrum';
import { swingLeft } from './swing';
import { CONFIDENCE, EVIDENCE, MEMORY, PRIOR, SPECTRUM } from './tuning';

/**
 * Breaths per minute from up to four series that breathing may modulate, one in each lane.
 *
 * Each series gives a likelihood over rates: that of a sinusoid of that rate in noise, (1 - r)^-K with r the part of
 * the whitened power that it explains (Bretthorst, Bayesian Spectrum Analysis, 1988), against that of no breathing in
 * this series at all; so a series without breathing says nothing, and agreement of several counts, as in Smart Fusion
 * (Karlen et al., IEEE TBME 60:1946, 2013). Power at twice the rate counts in part as well: breathing is no
 * sinusoid. The likelihoods feed a forward filter (hidden Markov model) over rates, which drift slowly and may jump, so that what a
 * session has learned fades. Its state is a posterior, from which answer.ts takes rate and confidence.
 */

/** Prior probability of each rate, where beats show the breath and where an effort does. */
const BEATS_PRIOR = changetype<Row<f32>>(memory.data(RATES * 4, 16));
const EFFORT_PRIOR = changetype<Row<f32>>(memory.data(RATES * 4, 16));

makePrior(BEATS_PRIOR, PRIOR.BEATS_SPREAD);
makePrior(EFFORT_PRIOR, PRIOR.EFFORT_SPREAD);

function makePrior(chances: Row<f32>, spread: f64): void {
  let sum: f64 = 0;
  for (let i = 0; i < RATES; i++) sum += prior(i, spread);
  for (let i = 0; i < RATES; i++) chances[i] = <f32>(prior(i, spread) / sum);
}

/** Log-normal, up to a factor. */
function prior(i: i32, spread: f64): f64 {
  const rate = <f64>(<f32>(FIRST + i) * BIN_PER_MINUTE);
  const x = Math.log(rate / PRIOR.USUAL_RATE) / spread;
  return Math.exp(-0.5 * x * x) / rate;
}

/**
 * Follows the rate by the series of the window that ends at `end`: writes rate and confidence. Takes the drift off the series.
 * @returns false where the series show nothing at all
 */
export function followBreath(state: BreathState, source: i32, end: f64, series: Series, to: Estimate): bool {
  if (!series.n) return false;
  countLanes(popcnt(i32x4.bitmask(series.lanes)), series.n);
  const drift = removeDrift(series, SPECTRUM.DRIFT);
  spectra(series, f32x4.add(f32x4.mul(drift, f32x4.splat(SPECTRUM.ROUGHNESS)), series.resolution));
  // Each degree of the drift holds as much of the spectrum as a bin of white noise (3/8: the Hann window's mean square).
  const slowest = f32x4.mul(drift, f32x4.splat(<f32>series.n * <f32>Math.sqrt(0.375 / <f64>SPECTRUM.DRIFT)));
  // Beats sample the breath: rates above half of theirs cannot be told from lower ones.
  const top = <i32>min<f32>(<f32>LAST, (series.beatRate / 2 - 1) / BIN_PER_MINUTE);
  const sound = explainedShares(series.n, min(2 * top, POINTS - 1), steepnessOf(slowest, source));
  const alive = v128.and(series.lanes, sound);
  if (!v128.any_true(alive)) return false;
  const usual = source === FROM_EFFORT ? EFFORT_PRIOR : BEATS_PRIOR;
  const track = state.tracks[source];
  likelihoods(series, top, alive, source);
  predict(track, end, usual, series.trust);
  weigh(track.posterior);
  answer(track.posterior, series, alive, source, to);
  if (!isTrusted(track, series, alive, source, usual, to)) to.confidence = min<f64>(to.confidence, UNTRUSTED);
  return true;
}

/**
 * Whether an answer is trusted. What speaks against it beside its own probability hides it, but is not a part of that: recordings in which the beats
 * are unsteady or the breath is shallower than before are right as often as others of the same probability.
 */
function isTrusted(track: Track, series: Series, alive: v128, source: i32, usual: Row<f32>, answer: Estimate): bool {
  const rate = <f32>answer.value;
  const alias: f32 = source === FROM_EFFORT ? 1 : notAlias(rate, series, usual);
  const probability = <f32>answer.confidence * alias;
  const believed = probability * series.trust;
  if (probability < CONFIDENCE.SURE || !(believed >= TRUSTED)) return false;
  return believed * swingLeft(track, series, alive, rate) >= TRUSTED;
}

/**
 * How steeply the noise of each lane falls, from 0 (white) to SPECTRUM.STEEPEST. A slow breath lies where noise shows its slope: power that falls towards zero frequency as well, so that the drift
 * is small, is no noise. In light it may be: the vessels' own slow waves do that, too.
 * @param slowest mean amplitude of the drift in the spectrum
 */
function steepnessOf(slowest: v128, source: i32): v128 {
  const low = meanAmplitude(SPECTRUM.LOW_FROM, SPECTRUM.LOW_TO);
  const high = meanAmplitude(SPECTRUM.HIGH_FROM, SPECTRUM.HIGH_TO);
  const a = fall(f32x4.extract_lane(low, 0), f32x4.extract_lane(high, 0), f32x4.extract_lane(slowest, 0), source);
  if (source === FROM_EFFORT) return f32x4.splat(max<f32>(0, min<f32>(a, SPECTRUM.STEEPEST_EFFORT)));
  const b = fall(f32x4.extract_lane(low, 1), f32x4.extract_lane(high, 1), f32x4.extract_lane(slowest, 1), source);
  const c = fall(f32x4.extract_lane(low, 2), f32x4.extract_lane(high, 2), f32x4.extract_lane(slowest, 2), source);
  return f32x4.pmin(f32x4.pmax(f32x4(a, b, c, 0), f32x4.splat(0)), f32x4.splat(SPECTRUM.STEEPEST));
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

/** Writes the LIKELIHOOD of each rate: the fourth root of that of the window, as windows overlap. */
function likelihoods(series: Series, top: i32, alive: v128, source: i32): void {
  const exponent = <i32>((EVIDENCE.EXPONENT * series.share * <f32>series.n) / <f32>POINTS + <f32>0.5);
  const odds = v128.and(f32x4.splat(EVIDENCE.SERIES_ODDS), alive);
  // A slow breath also modulates heights or baselines; intervals that vary alone do so with the blood pressure.
  const slowOdds = source === FROM_EFFORT ? odds : v128.and(odds, i32x4(0, -1, -1, 0));
  const harmonic = f32x4.splat(source === FROM_EFFORT ? 1 : EVIDENCE.HARMONIC);
  for (let i = 0; i < RATES; i++) {
    const k = FIRST + i;
    LIKELIHOOD[i] = 1;
    if (k > top) continue;
    const own = k > EVIDENCE.PRESSURE_BIN ? odds : slowOdds;
    const whole = f32x4.add(f32x4.splat(1), f32x4.mul(own, sinusoid(k, harmonic, exponent)));
    LIKELIHOOD[i] = product(f32x4.sqrt(f32x4.sqrt(whole)));
  }
}

/** Lets the posterior of the last answer drift, and jump to the prior. */
function predict(track: Track, end: f64, usual: Row<f32>, trust: f32): void {
  const posterior = track.posterior;
  if (!(track.end > 0 && end - track.end < RR_WINDOW)) {
    track.forget();
    for (let i = 0; i < RATES; i++) posterior[i] = usual[i];
  }
  track.end = end;
  const jump: f32 = MEMORY.JUMP + (<f32>1 - trust) * MEMORY.LOST;
  let left = posterior[0];
  for (let i = 0; i < RATES; i++) {
    const here = posterior[i];
    const right = posterior[min(i + 1, RATES - 1)];
    const drifted: f32 = MEMORY.DRIFT * (left + right) + (<f32>1 - <f32>2 * MEMORY.DRIFT) * here;
    posterior[i] = (<f32>1 - jump) * drifted + jump * usual[i];
    left = here;
  }
}

/** Multiplies the probabilities by LIKELIHOOD. */
function weigh(posterior: Row<f32>): void {
  let sum: f32 = 0;
  for (let i = 0; i < RATES; i++) {
    posterior[i] *= LIKELIHOOD[i];
    sum += posterior[i];
  }
  const scale: f32 = <f32>1 / sum;
  for (let i = 0; i < RATES; i++) posterior[i] *= scale;
}

/**
 * (1 - explained)^-exponent of each lane. The part `harmonic` of the power at twice the rate counts, up to as much as at the rate: else half of
 * each rate would do as well.
 */
function sinusoid(k: i32, harmonic: v128, exponent: i32): v128 {
  const here = SHARE[k];
  const explained = f32x4.add(here, f32x4.pmin(f32x4.mul(SHARE[2 * k], harmonic), here));
  const rest = f32x4.sub(f32x4.splat(1), explained);
  const limited = f32x4.pmax(rest, f32x4.splat(EVIDENCE.UNEXPLAINED));
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

function product(x: v128): f32 {
  return f32x4.extract_lane(x, 0) * f32x4.extract_lane(x, 1) * f32x4.extract_lane(x, 2) * f32x4.extract_lane(x, 3);
}
