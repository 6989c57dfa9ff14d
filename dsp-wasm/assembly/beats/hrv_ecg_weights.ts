// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence hrv_ecg (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading
 * weighs 2 times as much as any other. With people left out: calibration error 0.0837 (0.0503 to 0.122), trusted 89.7 (83.4 to 94.3) %, wrong but trusted 5.9 (3.38 to 10) %
 */
// biome-ignore format: as the lab writes it
export const HRV_ECG_WEIGHTS: StaticArray<f32> = [
  -12.1996, // without evidence
  0, // -artefacts
  -0.333244, // -doubt
  -0.273388, // rmssd
  13.3513, // +covered
  -1.08105, // -lowered
  -0.579029, // -tails
  -0.946086, // -back
  -0.229531, // -unstable
];
