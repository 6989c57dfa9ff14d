// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence hrv_ppg (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading
 * weighs 2 times as much as any other. With people left out: calibration error 0.0472 (0.0399 to 0.128), trusted 61.4 (48.6 to 73.7) %, wrong but trusted 3.86 (1.78 to 6.62) %
 */
// biome-ignore format: as the lab writes it
export const HRV_PPG_WEIGHTS: StaticArray<f32> = [
  -0.820901, // without evidence
  -0.245428, // -artefacts
  -0.158605, // -doubt
  -1.37266, // rmssd
  5.69119, // +covered
  -0.380545, // -lowered
  -0.67628, // -tails
  0, // -back
  -0.156708, // -unstable
];
