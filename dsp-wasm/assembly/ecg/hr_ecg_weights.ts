// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence hr_ecg (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading
 * weighs 2 times as much as any other. With people left out: calibration error 0.0174 (0.0106 to 0.0251), trusted 96.8 (94.7 to 98.3) %, wrong but trusted 0.331 (0.102 to 0.604) %
 */
// biome-ignore format: as the lab writes it
export const HR_ECG_WEIGHTS: StaticArray<f32> = [
  -1.77322, // without evidence
  -0.122477, // -doubt
  -9.46374, // -variation
  1.36641, // +contrast
  1.64683, // +energy
  0.220416, // +match
  2.72228, // +covered
];
