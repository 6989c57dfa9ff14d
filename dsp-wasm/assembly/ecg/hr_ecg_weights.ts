// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence hr_ecg (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading
 * weighs 2 times as much as any other. With people left out: calibration error 0.0147 (0.0122 to 0.0235), trusted 97.1 (95.2 to 98.5) %, wrong but trusted 0.48 (0.106 to 1.04) %
 */
// biome-ignore format: as the lab writes it
export const HR_ECG_WEIGHTS: StaticArray<f32> = [
  -3.17911, // without evidence
  -0.310351, // -doubt
  -9.1812, // -variation
  0.240026, // +contrast
  1.19484, // +energy
  0.416896, // +match
  2.63535, // +covered
];
