// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence hr_ecg (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading
 * weighs 1 times as much as any other. With people left out: calibration error 0.0103 (0.00591 to 0.0186), trusted 96.7 (94.3 to 98.4) %, wrong but trusted 0.326 (0.101 to 0.595) %
 */
// biome-ignore format: as the lab writes it
export const HR_ECG_WEIGHTS: StaticArray<f32> = [
  0.0752196, // without evidence
  -0.0675144, // -doubt
  -12.3659, // -variation
  0.991811, // +contrast
  0.673094, // +energy
  0, // +match
  3.67077, // +covered
  1.85698, // +fit
  -3.52459, // -shift
  -3.04142, // -rest
  -0.709927, // -unlike
];
