import { logistic, shown } from '../math/logistic';
import { featuresOf, Model } from '../memory/features';
import { Row } from '../memory/row';
import { periodicity, skewness } from './pulsatility';
import { SPO2_WEIGHTS } from './spo2_weights';
import { CONFIDENCE } from './tuning';
import { Pooled, SECONDS, Sums } from './window';

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
  const near = pooled.near;
  const wide = Math.sqrt(pooled.wide.red / pooled.wide.infrared) * levels;
  const apart = (1 - ratio) * (1 - ratio);
  const skew = min(1, Math.abs(skewness(slopes, first)) / CONFIDENCE.SKEWED);
  features[0] = <f32>(Math.log(ratio) + 0.5 * Math.log(((BOUND + unexplained(near)) * <f64>SECONDS) / seconds));
  features[1] = <f32>share;
  features[2] = <f32>Math.sqrt(flat);
  features[3] = <f32>Math.sqrt(Math.abs(wide - ratio));
  features[4] = <f32>(1 - apart / (apart + max(BOUND, unexplained(pooled.wide))));
  features[5] = <f32>Math.log((near.infrared * near.infrared) / (pooled.squares * seconds));
  features[6] = <f32>Math.log(BOUND + max(0, near.infrared / near.whole));
  features[7] = <f32>skew;
  features[8] = <f32>(skew * max(0, periodicity(slopes, first)));
  return features;
}

/** Part of one channel's power that the other does not explain. */
function unexplained(sums: Sums): f64 {
  return 1 - (sums.both * sums.both) / (sums.red * sums.infrared);
}

/** The confidence in the ratio of a pulse that is as large as usual, or larger than it by the logarithm `growth`. */
export function confidenceOf(features: Row<f32>, growth: f64): f64 {
  features[GROWTH] = <f32>max(0, growth);
  return shown(logistic(features, SPO2_WEIGHTS), CONFIDENCE.SURE);
}
