// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence hr_ecg (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading
 * weighs 2 times as much as any other. With people left out: calibration error 0.0165 (0.00785 to 0.0288), trusted 97.3 (95.3 to 98.7) %, wrong but trusted 0.784 (0.25 to 1.55) %
 */
// biome-ignore format: as the lab writes it
export const HR_ECG_WEIGHTS: StaticArray<f32> = [
  -2.94765, // without evidence
  0, // -doubt
  -0.251465, // -surprise
  -4.31631, // -variation
  1.04433, // +fit
  0.882739, // +contrast
  1.74759, // +energy
  0, // +match
  0.18495, // +covered
  0, // +agreement
];
