import { ramp } from '../math/ramp';
import { pulsatility } from './pulsatility';
import { POOLED } from './scratch';
import {
  ENOUGH_CORRELATION,
  ENOUGH_EVEN,
  ENOUGH_PERFUSION,
  ENOUGH_SKEW,
  ENOUGH_SWING,
  HIGH_PERFUSION,
  LEAST_CORRELATION,
  LEAST_EVEN,
  LEAST_FLAT,
  LEAST_PERFUSION,
  LEAST_RAISED,
  LEAST_REST,
  LEAST_SKEW,
  LEAST_SWING,
  MOST_FLAT,
  MOST_PERFUSION,
  MOST_REST,
  SURE_RAISED,
} from './tuning';

/**
 * Confidence in a ratio, in [0, 1].
 * @param accepted seconds whose two channels agree and were pooled, of `held`
 * @param perfusion size of the infrared pulse, relative to its level
 * @param flat share of the flatter channel's steps that are flat
 */
export function ratioConfidence(accepted: i32, held: i32, perfusion: f64, flat: f64): f64 {
  const correlation = POOLED.both / Math.sqrt(POOLED.red * POOLED.infrared);
  const share = <f64>accepted / <f64>held;
  const channels =
    share *
    ramp<f64>(correlation, LEAST_CORRELATION, ENOUGH_CORRELATION) *
    ramp<f64>(perfusion, LEAST_PERFUSION, ENOUGH_PERFUSION) *
    (1 - ramp<f64>(perfusion, HIGH_PERFUSION, MOST_PERFUSION)) *
    (1 - ramp<f64>(flat, LEAST_FLAT, MOST_FLAT));
  return channels * evenness(accepted) * pulsatility();
}

/**
 * 1 if nothing but the pulse moves the two channels, to 0 if something else may have raised the ratio: a hand that trembles, or noise.
 * What moves both alike, by the same part of their levels, cancels in their difference. So the regression of red on infrared by means of
 * that difference finds the ratio that the pulse has without it. Slopes over 1/4 s hold less of the noise, which this regression, unlike the
 * ratio itself, takes for a movement. A ratio near one leaves only noise in the difference, which then tells nothing: there, light
 * of movement alone would have this ratio, too, so the slopes must be as skewed as a pulse's. Comes after pulsatility.
 * @param levels infrared's level in parts of red's
 */
export function pulseOnly(ratio: f64, levels: f64): f64 {
  const both = POOLED.wideBoth * levels;
  const infrared = both - POOLED.wideInfrared;
  const red = POOLED.wideRed * levels * levels - both;
  const told = ramp<f64>(Math.abs(1 - ratio), LEAST_RAISED, SURE_RAISED);
  const raised = infrared < 0 ? ratio - red / infrared : 0;
  const pulse = told * (1 - ramp<f64>(raised, LEAST_RAISED, SURE_RAISED));
  const rest = 1 - (POOLED.wideBoth * POOLED.wideBoth) / (POOLED.wideRed * POOLED.wideInfrared);
  const alike = 1 - ramp<f64>(rest, LEAST_REST, MOST_REST);
  return pulse + (1 - told) * max(alike, ramp<f64>(POOLED.skew, LEAST_SKEW, ENOUGH_SKEW));
}

/**
 * 1 if every second has its share of the infrared's swings, as each contains about one beat; 0 if one of eight seconds
 * contains them all (a step, a spike), or if the slopes hardly change within a second (a drift).
 */
function evenness(accepted: i32): f64 {
  const swings = POOLED.infrared;
  const spread = (swings * swings) / (POOLED.squares * <f64>max(accepted, 1));
  return ramp<f64>(spread, LEAST_EVEN, ENOUGH_EVEN) * ramp<f64>(swings / POOLED.whole, LEAST_SWING, ENOUGH_SWING);
}
