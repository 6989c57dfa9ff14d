// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence hrv_ppg (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading
 * weighs 2 times as much as any other. With people left out: calibration error 0.0529 (0.0389 to 0.13), trusted 56.5 (40.9 to 72.3) %, wrong but trusted 0.606 (0 to 1.35) %
 * Trusted from 0.8 on, where 95 % of the recorded minutes are in tolerance with people left out, or more.
 */
// biome-ignore format: as the lab writes it
export const HRV_PPG_WEIGHTS: StaticArray<f32> = [
  -8.61365, // without evidence
  -2.13952, // -artefacts
  -0.109932, // -doubt
  -1.50303, // rmssd
  6.97206, // +covered
  0, // -lowered
  -0.751516, // -tails
  -0.174059, // -unstable
  -1.24899, // -jitter
];
/** Minimum probability of a trusted reading. */
export const HRV_PPG_SURE: f32 = 0.8;
