// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence hr_ppg_motion (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading
 * weighs 1.5 times as much as any other. With people left out: calibration error 0.05 (0.0352 to 0.0647), trusted 92.2 (87.9 to 95) %, wrong but trusted 1.66 (0.793 to 2.89) %
 */
// biome-ignore format: as the lab writes it
export const HR_PPG_MOTION_WEIGHTS: StaticArray<f32> = [
  -2.20069, // without evidence
  1.03749, // +belief
  0.556956, // +support
  3.75787, // +seen_apart
];
