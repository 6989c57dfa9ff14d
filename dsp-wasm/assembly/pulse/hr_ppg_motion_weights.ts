// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence hr_ppg_motion (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading
 * weighs 2 times as much as any other. With people left out: calibration error 0.039 (0.0277 to 0.0519), trusted 92.1 (87.7 to 95.1) %, wrong but trusted 1.72 (0.867 to 2.98) %
 */
// biome-ignore format: as the lab writes it
export const HR_PPG_MOTION_WEIGHTS: StaticArray<f32> = [
  -2.17147, // without evidence
  0.892668, // +belief
  0.902469, // +support
  4.72889, // +seen_apart
];
