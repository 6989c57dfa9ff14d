// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence hr_ppg_rest (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading
 * weighs 2 times as much as any other. With people left out: calibration error 0.00716 (0.00371 to 0.0137), trusted 99.3 (99 to 99.5) %, wrong but trusted 0.39 (0.175 to 0.701) %
 */
// biome-ignore format: as the lab writes it
export const HR_PPG_REST_WEIGHTS: StaticArray<f32> = [
  2.80536, // without evidence
  0.399229, // +likelihood
  0, // -unrest
  -1.47616, // -off_track
  -0.990839, // -margin
  -1.18844, // -unsteadiness
  -1.95505, // -short
  0, // -edge
  -0.587883, // -gap
  -1.18357, // -step
];
