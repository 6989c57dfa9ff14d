// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence hr_ecg (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading
 * weighs 2 times as much as any other. With people left out: calibration error 0.0154 (0.01 to 0.0229), trusted 97 (95 to 98.5) %, wrong but trusted 0.331 (0.111 to 0.603) %
 */
// biome-ignore format: as the lab writes it
export const HR_ECG_WEIGHTS: StaticArray<f32> = [
  -2.2984, // without evidence
  -0.248413, // -doubt
  -8.76365, // -variation
  0.885087, // +contrast
  1.28695, // +energy
  0.332302, // +match
  2.54146, // +covered
];
