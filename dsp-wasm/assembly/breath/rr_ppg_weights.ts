// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence rr_ppg (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading
 * weighs 1 times as much as any other. With people left out: calibration error 0.0624 (0.0371 to 0.107), trusted 88.1 (77.9 to 95.6) %, wrong but trusted 0.252 (0 to 0.655) %
 */
// biome-ignore format: as the lab writes it
export const RR_PPG_WEIGHTS: StaticArray<f32> = [
  5.45729, // without evidence
  0.963504, // +mass
  1.36877, // +likelihood
  -0.873651, // -spread
  -1.24876, // -quotient
];
