import { logistic, shown } from '../math/logistic';
import { featuresOf, Model } from '../memory/features';
import { Row } from '../memory/row';
import { periodicity, skewness } from './pulsatility';
import { Pooled, SECONDS } from './records';
import { SPO2_WEIGHTS } from './spo2_weights';
import { CONFIDENCE } from './tuning';

/** Share of a power that noise always has: bounds the logarithms. */
const BOUND: f64 = 1e-3;
/** Number of the feature that says how much larger than usual the pulse is. */
const GROWTH: i32 = 9;

/**
 * The features of how well the two channels tell the ratio of a pulse (src/features.ts), all but the last; nothing of them depends on a calibration.
 *
 * Noise that reaches one channel more than the other changes the ratio, but less that of the slopes over 1/4 s, which hold less of it. What moves both
 * alike has a ratio of about one: there the two channels tell nothing of it, unless they differ by more than their noise.
 * @param share accepted seconds as a share of those with data
 * @param flat share of the flatter channel's steps that are flat
 * @param levels infrared's level in parts of red's
 * @param slopes of the infrared about their mean, from `first` on
 */
export function ratioFeatures(
  pooled: Pooled,
  share: f64,
  flat: f64,
  ratio: f64,
  levels: f64,
  slopes: Row<f32>,
  first: i32,
): Row<f32> {
  const features = featuresOf(Model.SPO2);
  const seconds = <f64>max(pooled.seconds, 1);
  const unexplained = 1 - (pooled.both * pooled.both) / (pooled.red * pooled.infrared);
  const wide = Math.sqrt(pooled.wideRed / pooled.wideInfrared) * levels;
  const rest = 1 - (pooled.wideBoth * pooled.wideBoth) / (pooled.wideRed * pooled.wideInfrared);
  const apart = (1 - ratio) * (1 - ratio);
  const skew = min(1, Math.abs(skewness(slopes, first)) / CONFIDENCE.SKEWED);
  features[0] = <f32>(Math.log(ratio) + 0.5 * Math.log(((BOUND + unexplained) * <f64>SECONDS) / seconds));
  features[1] = <f32>share;
  features[2] = <f32>Math.sqrt(flat);
  features[3] = <f32>Math.sqrt(Math.abs(wide - ratio));
  features[4] = <f32>(1 - apart / (apart + max(BOUND, rest)));
  features[5] = <f32>Math.log((pooled.infrared * pooled.infrared) / (pooled.squares * seconds));
  features[6] = <f32>Math.log(BOUND + max(0, pooled.infrared / pooled.whole));
  features[7] = <f32>skew;
  features[8] = <f32>(skew * max(0, periodicity(slopes, first)));
  return features;
}

/** The confidence in the ratio of a pulse that is as large as usual, or larger than it by the logarithm `growth`. */
export function confidenceOf(features: Row<f32>, growth: f64): f64 {
  features[GROWTH] = <f32>max(0, growth);
  return shown(logistic(features, SPO2_WEIGHTS), CONFIDENCE.SURE);
}
