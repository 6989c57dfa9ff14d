// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence hr_ppg_motion (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading
 * weighs 2 times as much as any other. With people left out: calibration error 0.0393 (0.0286 to 0.0521), trusted 92.3 (88 to 95.2) %, wrong but trusted 1.7 (0.854 to 2.93) %
 */
// biome-ignore format: as the lab writes it
export const HR_PPG_MOTION_WEIGHTS: StaticArray<f32> = [
  -1.87889, // without evidence
  0.893357, // +belief
  0.924016, // +support
  4.23594, // +seen_apart
];
