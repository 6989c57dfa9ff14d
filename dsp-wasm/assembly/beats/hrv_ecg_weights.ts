// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence hrv_ecg (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading
 * weighs 2 times as much as any other. With people left out: calibration error 0.0584 (0.0401 to 0.116), trusted 86.7 (79.2 to 92.5) %, wrong but trusted 8.47 (4.87 to 14.5) %
 */
// biome-ignore format: as the lab writes it
export const HRV_ECG_WEIGHTS: StaticArray<f32> = [
  -13.0543, // without evidence
  0, // -artefacts
  -0.308382, // -doubt
  -0.105481, // rmssd
  13.8569, // +covered
  -1.28377, // -lowered
  -0.632952, // -tails
  -0.860371, // -back
  -0.299136, // -unstable
];
