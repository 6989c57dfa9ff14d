// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence hr_ppg_motion (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading
 * weighs 2 times as much as any other. With people left out: calibration error 0.0343 (0.0224 to 0.0473), trusted 91 (86.2 to 94.3) %, wrong but trusted 1.42 (0.726 to 2.54) %
 */
// biome-ignore format: as the lab writes it
export const HR_PPG_MOTION_WEIGHTS: StaticArray<f32> = [
  -2.40943, // without evidence
  1.08567, // +belief
  1.45933, // +support
  4.84173, // +seen_apart
];
