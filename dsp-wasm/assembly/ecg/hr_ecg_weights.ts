// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence hr_ecg (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading
 * weighs 2 times as much as any other. With people left out: calibration error 0.0156 (0.0102 to 0.0232), trusted 97 (94.9 to 98.5) %, wrong but trusted 0.32 (0.102 to 0.585) %
 */
// biome-ignore format: as the lab writes it
export const HR_ECG_WEIGHTS: StaticArray<f32> = [
  -2.28929, // without evidence
  -0.249235, // -doubt
  -8.82247, // -variation
  0.887954, // +contrast
  1.27658, // +energy
  0.331142, // +match
  2.55144, // +covered
];
