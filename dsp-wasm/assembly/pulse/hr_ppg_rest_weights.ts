// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence hr_ppg_rest (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading
 * weighs 2 times as much as any other. With people left out: calibration error 0.0074 (0.00285 to 0.0149), trusted 99.5 (99.2 to 99.7) %, wrong but trusted 0.468 (0.234 to 0.785) %
 */
// biome-ignore format: as the lab writes it
export const HR_PPG_REST_WEIGHTS: StaticArray<f32> = [
  2.39928, // without evidence
  0.394006, // +likelihood
  -1.10729, // -off_track
  -1.08779, // -margin
  -1.49847, // -short
  -1.61413, // -gap
  -0.141724, // -step
];
