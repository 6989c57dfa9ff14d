// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence hr_ppg_motion (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading
 * weighs 2 times as much as any other. With people left out: calibration error 0.0454 (0.0307 to 0.0611), trusted 91.9 (87.5 to 94.8) %, wrong but trusted 1.66 (0.769 to 2.96) %
 */
// biome-ignore format: as the lab writes it
export const HR_PPG_MOTION_WEIGHTS: StaticArray<f32> = [
  -2.16552, // without evidence
  1.04045, // +belief
  0.833367, // +support
  4.29975, // +seen_apart
];
