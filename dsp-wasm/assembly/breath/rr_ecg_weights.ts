// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence rr_ecg (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading
 * weighs 2 times as much as any other. With people left out: calibration error 0.168 (0.089 to 0.254), trusted 67.4 (49.7 to 84.7) %, wrong but trusted 0.0231 (0 to 0.07) %
 */
// biome-ignore format: as the lab writes it
export const RR_ECG_WEIGHTS: StaticArray<f32> = [
  0.190828, // without evidence
  2.07193, // +mass
  2.20987, // +likelihood
  -1.35407, // -slowness
  0, // -near_limit
];
