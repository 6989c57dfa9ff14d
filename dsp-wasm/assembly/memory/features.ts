import { Row, rowOf } from './row';

/**
 * The features from which the confidence of the newest answer was computed: the row that `logistic` reads (math/logistic.ts). The
 * host reads it too, for the lab, which fits the weights.
 */

/** Models of confidence, in the order of the host's (src/features.ts). */
export enum Model {
  NONE,
  HR_PPG_REST,
  HR_PPG_MOTION,
  HR_ECG,
  RR_PPG,
  RR_ECG,
  RR_RESP,
  SPO2,
  HRV_ECG,
  HRV_PPG,
  RHYTHM,
}

/** Maximum number of features of a model. */
export const MOST_FEATURES: i32 = 32;
export const FEATURES = rowOf<f32>(MOST_FEATURES);
let newest = Model.NONE;

/** Begins the features of a model, at most MOST_FEATURES; the estimator writes them, in the order of their names. */
export function featuresOf(model: Model): Row<f32> {
  newest = model;
  return FEATURES;
}

/** The answer has no model yet. */
export function clearFeatures(): void {
  newest = Model.NONE;
}

/** Model of the newest answer. */
export function modelOfAnswer(): Model {
  return newest;
}
