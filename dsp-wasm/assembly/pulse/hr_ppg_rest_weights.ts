// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence hr_ppg_rest (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading
 * weighs 2 times as much as any other. With people left out: calibration error 0.0103 (0.0053 to 0.0176), trusted 99.1 (98.8 to 99.4) %, wrong but trusted 0.572 (0.253 to 1.03) %
 */
// biome-ignore format: as the lab writes it
export const HR_PPG_REST_WEIGHTS: StaticArray<f32> = [
  2.7698, // without evidence
  0.913294, // +likelihood
  -0.495419, // -unrest
  -0.803466, // -off_track
  -0.993646, // -margin
  -1.03393, // -unsteadiness
  -1.34906, // -short
  0, // -edge
  -0.88534, // -gap
  -0.448719, // -step
];
