import { logistic } from '../math/logistic';
import { sumLanes } from '../math/vector';
import { RATES } from '../memory/breath_state';
import { featuresOf, Model } from '../memory/features';
import { Estimate } from '../memory/map';
import { Row } from '../memory/row';
import { RR_ECG_WEIGHTS } from './rr_ecg_weights';
import { RR_PPG_WEIGHTS } from './rr_ppg_weights';
import { RR_RESP_WEIGHTS } from './rr_resp_weights';
import { LIKELIHOOD, POINTS, POWER, Series, SHARE } from './scratch';
import { BIN_PER_MINUTE, FIRST, FROM_EFFORT, FROM_PPG, LAST, spreadOf } from './source';
import { MEMORY, PRIOR, SPECTRUM } from './tuning';

/** Bounds log odds to 9.2. */
const BOUND: f32 = 1e-4;

/**
 * The rate and its confidence from the posterior: the rate is the centroid of the power in the heaviest stretch of about 6 per minute, the
 * confidence is P(error within 3) by a logistic regression on the features below.
 */
export function answer(posterior: Row<f32>, series: Series, alive: v128, source: i32, to: Estimate): void {
  const centre = heaviest(posterior);
  const half = MEMORY.HALF_STRETCH + spreadOf(FIRST + centre);
  const from = max(0, centre - half);
  const last = min(RATES - 1, centre + half);
  let mass: f32 = 0;
  let peak = from;
  for (let i = from; i <= last; i++) {
    mass += posterior[i];
    if (posterior[i] > posterior[peak]) peak = i;
  }
  // Once more about the first mean, as the stretch may lie beside the line
  const first = centroid(FIRST + centre, half, FIRST + peak, alive);
  const rate = centroid(<i32>Mathf.round(first / BIN_PER_MINUTE), half, FIRST + peak, alive);
  to.value = rate;
  if (source === FROM_EFFORT) {
    const features = featuresOf(Model.RR_RESP);
    features[0] = f32x4.extract_lane(SHARE[FIRST + peak], 0);
    features[1] = Mathf.log(<f32>1 + varianceOf(posterior));
    to.confidence = logistic(features, RR_RESP_WEIGHTS);
    return;
  }
  const isLight = source === FROM_PPG;
  const features = featuresOf(isLight ? Model.RR_PPG : Model.RR_ECG);
  features[0] = logOddsOf(mass);
  features[1] = Mathf.log(LIKELIHOOD[peak]);
  features[2] = Mathf.log(<f32>1 + varianceOf(posterior));
  if (isLight) {
    features[3] = Mathf.log(series.beatRate / rate);
  } else {
    features[3] = max<f32>(0, Mathf.log(<f32>PRIOR.USUAL_RATE / rate));
    features[4] = <f32>series.n / <f32>POINTS;
    features[5] = middleOf(v128.and(alive, SHARE[FIRST + peak]));
    features[6] = logOddsOf(series.beats);
  }
  to.confidence = logistic(features, isLight ? RR_PPG_WEIGHTS : RR_ECG_WEIGHTS);
}

/** Logarithm of the odds of a probability, at most 9.2. */
function logOddsOf(probability: f32): f32 {
  return Mathf.log((probability + BOUND) / (<f32>1 + BOUND - probability));
}

/** The second largest of the first three lanes. */
function middleOf(shares: v128): f32 {
  const a = f32x4.extract_lane(shares, 0);
  const b = f32x4.extract_lane(shares, 1);
  return max(min(a, b), min(max(a, b), f32x4.extract_lane(shares, 2)));
}

/** Variance of the rate, in bins². */
function varianceOf(posterior: Row<f32>): f32 {
  let first: f32 = 0;
  let second: f32 = 0;
  for (let i = 0; i < RATES; i++) {
    const weighed: f32 = posterior[i] * <f32>i;
    first += weighed;
    second += weighed * <f32>i;
  }
  return max<f32>(0, second - first * first);
}

/**
 * Probability that a rate is that of the breath and not of its alias, which the beats show alike: as much as the usual rates tell.
 * @param usual prior probability of each rate
 */
export function notAlias(rate: f32, series: Series, usual: Row<f32>): f32 {
  const alias = series.beatRate - rate;
  const there = chanceOf(alias, usual);
  const here = chanceOf(rate, usual);
  return here / (here + there + f32.MIN_NORMAL_VALUE);
}

/** Chance of a rate (per minute) among the usual ones; none beyond the tracked ones. */
function chanceOf(rate: f32, usual: Row<f32>): f32 {
  const i = <i32>Mathf.round(rate / BIN_PER_MINUTE) - FIRST;
  return i < RATES ? usual[max(0, i)] : 0;
}

/** Mean rate of the power up to `half` bins from a bin, each series by what its peak explains. Neither the whitening nor the prior shifts it. */
function centroid(centre: i32, half: i32, peak: i32, alive: v128): f32 {
  const floor = f32x4.splat(f32.MIN_NORMAL_VALUE);
  const weight = v128.and(alive, f32x4.div(SHARE[peak], f32x4.pmax(POWER[peak], floor)));
  let sum: f32 = 0;
  let moment: f32 = 0;
  for (let k = max(SPECTRUM.LOWEST_BIN, centre - half); k <= min(LAST, centre + half); k++) {
    const power = sumLanes(f32x4.mul(weight, POWER[k]));
    sum += power;
    moment += power * <f32>k;
  }
  return BIN_PER_MINUTE * (sum > 0 ? moment / sum : <f32>peak);
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
