import { Row } from '../memory/row';

/** Probability by logistic regression: the weights are that of the model without evidence, then one for each feature. */
export function logistic(features: Row<f32>, weights: StaticArray<f32>): f32 {
  return <f32>1 / (<f32>1 + Mathf.exp(-logOdds(features, weights)));
}

/** The same as logarithm of the odds: weights[0] + the sum of weights[i + 1] * features[i]. */
export function logOdds(features: Row<f32>, weights: StaticArray<f32>): f32 {
  let sum = unchecked(weights[0]);
  for (let i = 1; i < weights.length; i++) sum += unchecked(weights[i]) * features[i - 1];
  return sum;
}

/** Maximum confidence of a reading that is not trusted. */
export const UNTRUSTED: f32 = 0.49;

/** A probability as a confidence: one from a half up to `sure` is lowered to just below a half, so that its reading is not trusted. */
export function shown(probability: f32, sure: f32): f32 {
  return probability < sure ? min<f32>(probability, UNTRUSTED) : probability;
}
