// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence hr_ppg_rest (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading
 * weighs 2 times as much as any other. With people left out: calibration error 0.00843 (0.00387 to 0.0146), trusted 99.5 (99.2 to 99.7) %, wrong but trusted 0.361 (0.162 to 0.672) %
 */
// biome-ignore format: as the lab writes it
export const HR_PPG_REST_WEIGHTS: StaticArray<f32> = [
  2.63695, // without evidence
  0.0480457, // +likelihood
  -2.08039, // -off_track
  -1.10535, // -margin
  -1.4844, // -short
  -2.03271, // -gap
  -0.173016, // -step
];
