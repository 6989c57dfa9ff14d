// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence hr_ecg (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading
 * weighs 1.5 times as much as any other. With people left out: calibration error 0.0119 (0.00562 to 0.023), trusted 97.6 (95.9 to 98.8) %, wrong but trusted 0.817 (0.267 to 1.59) %
 */
// biome-ignore format: as the lab writes it
export const HR_ECG_WEIGHTS: StaticArray<f32> = [
  -2.51986, // without evidence
  0, // -doubt
  -0.271757, // -surprise
  -4.46087, // -variation
  1.08496, // +fit
  0.903577, // +contrast
  1.59703, // +energy
  0, // +match
  0.0450851, // +covered
  0, // +agreement
];
