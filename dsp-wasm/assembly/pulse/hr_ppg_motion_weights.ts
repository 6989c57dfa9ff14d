// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence hr_ppg_motion (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading
 * weighs 2 times as much as any other. With people left out: calibration error 0.0594 (0.0425 to 0.0745), trusted 91.2 (86.4 to 94.3) %, wrong but trusted 1.41 (0.692 to 2.45) %
 */
// biome-ignore format: as the lab writes it
export const HR_PPG_MOTION_WEIGHTS: StaticArray<f32> = [
  -2.4128, // without evidence
  1.06921, // +belief
  0.638012, // +support
  3.91544, // +seen_apart
];
