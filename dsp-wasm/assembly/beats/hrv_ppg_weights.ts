// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence hrv_ppg (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading
 * weighs 2 times as much as any other. With people left out: calibration error 0.0782 (0.0494 to 0.167), trusted 41.7 (30.5 to 54.7) %, wrong but trusted 3.9 (1.81 to 6.62) %
 */
// biome-ignore format: as the lab writes it
export const HRV_PPG_WEIGHTS: StaticArray<f32> = [
  1.32381, // without evidence
  -5.17812, // -artefacts
  -0.209749, // -doubt
  -0.79653, // rmssd
  2.69975, // +covered
  -0.22306, // -lowered
  -0.605031, // -tails
  0, // -back
  -0.036804, // -unstable
];
