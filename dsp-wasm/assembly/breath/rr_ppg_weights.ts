// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence rr_ppg (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading
 * weighs 1 times as much as any other. With people left out: calibration error 0.0656 (0.0403 to 0.108), trusted 88.2 (78.1 to 95.3) %, wrong but trusted 0.186 (0 to 0.518) %
 */
// biome-ignore format: as the lab writes it
export const RR_PPG_WEIGHTS: StaticArray<f32> = [
  4.89567, // without evidence
  0.969731, // +mass
  1.40761, // +likelihood
  -0.773905, // -spread
  -1.16519, // -quotient
];
