// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence hr_ppg_rest (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading
 * weighs 2 times as much as any other. With people left out: calibration error 0.0158 (0.00705 to 0.0246), trusted 99.4 (99 to 99.7) %, wrong but trusted 0.592 (0.284 to 0.994) %
 */
// biome-ignore format: as the lab writes it
export const HR_PPG_REST_WEIGHTS: StaticArray<f32> = [
  1.88046, // without evidence
  0.751263, // +likelihood
  -0.0381946, // -off_track
  -1.04235, // -margin
  -0.629764, // -short
  -1.50369, // -gap
  0, // -step
];
