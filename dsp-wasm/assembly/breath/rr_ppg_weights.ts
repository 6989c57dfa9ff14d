// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence rr_ppg (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading
 * weighs 1 times as much as any other. With people left out: calibration error 0.0699 (0.0411 to 0.123), trusted 89.1 (79.1 to 96) %, wrong but trusted 0.318 (0 to 0.876) %
 */
// biome-ignore format: as the lab writes it
export const RR_PPG_WEIGHTS: StaticArray<f32> = [
  4.27926, // without evidence
  0.831236, // +mass
  1.36415, // +likelihood
  -0.752658, // -spread
  -0.854929, // -quotient
];
