// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence hr_ecg (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading
 * weighs 2 times as much as any other. With people left out: calibration error 0.0131 (0.00922 to 0.0202), trusted 97.5 (95.7 to 98.7) %, wrong but trusted 0.375 (0.153 to 0.664) %
 */
// biome-ignore format: as the lab writes it
export const HR_ECG_WEIGHTS: StaticArray<f32> = [
  -3.23593, // without evidence
  -0.198633, // -doubt
  -8.54099, // -variation
  0.555046, // +contrast
  1.42402, // +energy
  0.540742, // +match
  2.77321, // +covered
];
