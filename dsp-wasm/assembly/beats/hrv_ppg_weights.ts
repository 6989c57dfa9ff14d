// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence hrv_ppg (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading
 * weighs 2 times as much as any other. With people left out: calibration error 0.0593 (0.0429 to 0.137), trusted 56.8 (44.9 to 69.3) %, wrong but trusted 3.76 (1.64 to 6.4) %
 */
// biome-ignore format: as the lab writes it
export const HRV_PPG_WEIGHTS: StaticArray<f32> = [
  -0.0347105, // without evidence
  -3.57906, // -artefacts
  0, // -doubt
  -1.14063, // rmssd
  5.68708, // +covered
  -0.353621, // -lowered
  -0.545691, // -tails
  0, // -back
  0, // -unstable
];
