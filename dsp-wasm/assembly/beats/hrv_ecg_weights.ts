// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence hrv_ecg (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading
 * weighs 2 times as much as any other. With people left out: calibration error 0.067 (0.0371 to 0.135), trusted 84.6 (77.9 to 90.3) %, wrong but trusted 9.78 (6.26 to 14) %
 */
// biome-ignore format: as the lab writes it
export const HRV_ECG_WEIGHTS: StaticArray<f32> = [
  -11.0185, // without evidence
  -2.05417, // -artefacts
  -0.471961, // -doubt
  0.106128, // rmssd
  9.34571, // +covered
  -0.621998, // -lowered
  -0.304197, // -tails
  -0.782577, // -back
  -0.264713, // -unstable
];
