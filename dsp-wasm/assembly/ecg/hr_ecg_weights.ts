// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence hr_ecg (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading
 * weighs 2 times as much as any other. With people left out: calibration error 0.0203 (0.0127 to 0.0298), trusted 96.9 (94.5 to 98.5) %, wrong but trusted 0.353 (0.114 to 0.631) %
 */
// biome-ignore format: as the lab writes it
export const HR_ECG_WEIGHTS: StaticArray<f32> = [
  -4.77161, // without evidence
  -0.0649819, // -doubt
  -10.1841, // -variation
  0.776341, // +contrast
  1.28667, // +energy
  0.117908, // +match
  3.87951, // +covered
  3.64981, // +fit
  -2.25618, // -shift
  -2.01146, // -rest
];
