import { ramp } from '../math/ramp';
import { Pooled } from './records';
import { CHANNELS, PULSE, RAISED } from './tuning';

/**
 * How far the two channels allow to trust their ratio, from 0 to 1.
 * @param share seconds whose two channels agree and were pooled, as a share of those with data
 * @param perfusion size of the infrared pulse, relative to its level
 * @param flat share of the flatter channel's steps that are flat
 */
export function ratioConfidence(pooled: Pooled, share: f64, perfusion: f64, flat: f64): f64 {
  const correlation = pooled.both / Math.sqrt(pooled.red * pooled.infrared);
  return (
    share *
    ramp<f64>(correlation, CHANNELS.LEAST_CORRELATION, CHANNELS.ENOUGH_CORRELATION) *
    ramp<f64>(perfusion, CHANNELS.LEAST_PERFUSION, CHANNELS.ENOUGH_PERFUSION) *
    (1 - ramp<f64>(perfusion, CHANNELS.HIGH_PERFUSION, CHANNELS.MOST_PERFUSION)) *
    (1 - ramp<f64>(flat, CHANNELS.LEAST_FLAT, CHANNELS.MOST_FLAT)) *
    evenness(pooled)
  );
}

/**
 * 1 if nothing but the pulse moves the two channels, to 0 if something else may have raised the ratio: a hand that trembles, or noise.
 * What moves both alike, by the same part of their levels, cancels in their difference. So the regression of red on infrared by means of
 * that difference finds the ratio that the pulse has without it. Slopes over 1/4 s hold less of the noise, which this regression, unlike the
 * ratio itself, takes for a movement. A ratio near one leaves only noise in the difference, which then tells nothing: there, light
 * of movement alone would have this ratio, too, so the slopes must be as skewed as a pulse's.
 * @param skew skewness of the infrared's slopes, either way
 * @param levels infrared's level in parts of red's
 */
export function pulseOnly(pooled: Pooled, skew: f64, ratio: f64, levels: f64): f64 {
  const both = pooled.wideBoth * levels;
  const infrared = both - pooled.wideInfrared;
  const red = pooled.wideRed * levels * levels - both;
  const told = ramp<f64>(Math.abs(1 - ratio), RAISED.LEAST, RAISED.SURE);
  const raised = infrared < 0 ? ratio - red / infrared : 0;
  const pulse = told * (1 - ramp<f64>(raised, RAISED.LEAST, RAISED.SURE));
  const rest = 1 - (pooled.wideBoth * pooled.wideBoth) / (pooled.wideRed * pooled.wideInfrared);
  const alike = 1 - ramp<f64>(rest, RAISED.LEAST_REST, RAISED.MOST_REST);
  return pulse + (1 - told) * max(alike, ramp<f64>(skew, PULSE.LEAST_SKEW, PULSE.ENOUGH_SKEW));
}

/**
 * 1 if every second has its share of the infrared's swings, as each contains about one beat; 0 if one of eight seconds
 * contains them all (a step, a spike), or if the slopes hardly change within a second (a drift).
 */
function evenness(pooled: Pooled): f64 {
  const swings = pooled.infrared;
  const spread = (swings * swings) / (pooled.squares * <f64>max(pooled.seconds, 1));
  return (
    ramp<f64>(spread, CHANNELS.LEAST_EVEN, CHANNELS.ENOUGH_EVEN) *
    ramp<f64>(swings / pooled.whole, CHANNELS.LEAST_SWING, CHANNELS.ENOUGH_SWING)
  );
}
