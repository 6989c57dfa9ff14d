// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence hrv_ecg (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading
 * weighs 2 times as much as any other. With people left out: calibration error 0.0483 (0.0336 to 0.0975), trusted 90 (84.7 to 94.1) %, wrong but trusted 5.35 (2.37 to 10.1) %
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
  0, // -back
  -0.543321, // -unstable
];
