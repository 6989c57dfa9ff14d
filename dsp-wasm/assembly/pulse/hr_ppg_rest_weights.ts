// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence hr_ppg_rest (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading
 * weighs 2 times as much as any other. With people left out: calibration error 0.0081 (0.00338 to 0.0148), trusted 99.4 (99.1 to 99.7) %, wrong but trusted 0.471 (0.206 to 0.868) %
 */
// biome-ignore format: as the lab writes it
export const HR_PPG_REST_WEIGHTS: StaticArray<f32> = [
  2.4053, // without evidence
  0.117564, // +likelihood
  -1.84453, // -off_track
  -1.15892, // -margin
  -0.912131, // -short
  -1.76999, // -gap
  -0.286042, // -step
];
