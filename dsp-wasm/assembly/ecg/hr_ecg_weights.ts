// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence hr_ecg (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading
 * weighs 2 times as much as any other. With people left out: calibration error 0.0206 (0.0129 to 0.0301), trusted 96.8 (94.4 to 98.4) %, wrong but trusted 0.337 (0.108 to 0.612) %
 */
// biome-ignore format: as the lab writes it
export const HR_ECG_WEIGHTS: StaticArray<f32> = [
  -4.79249, // without evidence
  -0.0640256, // -doubt
  -10.0705, // -variation
  0.852688, // +contrast
  1.28381, // +energy
  0.0423387, // +match
  3.99817, // +covered
  3.82824, // +fit
  -2.33605, // -shift
  -2.05315, // -rest
];
