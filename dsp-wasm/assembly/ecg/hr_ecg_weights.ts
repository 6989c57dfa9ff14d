// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence hr_ecg (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading
 * weighs 2 times as much as any other. With people left out: calibration error 0.0201 (0.0126 to 0.0296), trusted 96.9 (94.5 to 98.5) %, wrong but trusted 0.342 (0.112 to 0.616) %
 */
// biome-ignore format: as the lab writes it
export const HR_ECG_WEIGHTS: StaticArray<f32> = [
  -4.75826, // without evidence
  -0.0603353, // -doubt
  -10.0793, // -variation
  0.783067, // +contrast
  1.30478, // +energy
  0.134658, // +match
  3.83493, // +covered
  3.62903, // +fit
  -2.26553, // -shift
  -2.00036, // -rest
];
