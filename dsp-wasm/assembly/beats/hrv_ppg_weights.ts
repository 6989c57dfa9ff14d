// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence hrv_ppg (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading
 * weighs 2 times as much as any other. With people left out: calibration error 0.0508 (0.0393 to 0.128), trusted 60.4 (47.6 to 73.1) %, wrong but trusted 3.22 (1.31 to 5.83) %
 */
// biome-ignore format: as the lab writes it
export const HRV_PPG_WEIGHTS: StaticArray<f32> = [
  -0.414352, // without evidence
  -2.788, // -artefacts
  0, // -doubt
  -1.32254, // rmssd
  6.7854, // +covered
  -0.281689, // -lowered
  -0.604456, // -tails
  0, // -back
  -0.0410931, // -unstable
];
