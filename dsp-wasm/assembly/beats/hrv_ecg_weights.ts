// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence hrv_ecg (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading
 * weighs 2 times as much as any other. With people left out: calibration error 0.0483 (0.0336 to 0.0975), trusted 57.6 (46.6 to 66.8) %, wrong but trusted 0.778 (0 to 2.14) %
 * Trusted from 0.868 on, where 95 % of the recorded minutes are in tolerance with people left out, or more.
 */
// biome-ignore format: as the lab writes it
export const HRV_ECG_WEIGHTS: StaticArray<f32> = [
  -14.7404, // without evidence
  -0.394121, // -artefacts
  -0.31805, // -doubt
  -0.0676498, // rmssd
  15.9884, // +covered
  -1.17536, // -lowered
  -0.459901, // -tails
  -0.543321, // -unstable
];
/** Minimum probability of a trusted reading. */
export const HRV_ECG_SURE: f32 = 0.868;
