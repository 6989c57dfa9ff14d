// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence rr_ppg (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading
 * weighs 2 times as much as any other. With people left out: calibration error 0.0903 (0.0516 to 0.142), trusted 83.7 (72.7 to 92.4) %, wrong but trusted 0.0821 (0 to 0.262) %
 */
// biome-ignore format: as the lab writes it
export const RR_PPG_WEIGHTS: StaticArray<f32> = [
  -0.396689, // without evidence
  1.97513, // +mass
  2.59152, // +likelihood
  -0.395396, // -slowness
  -74.585, // -near_limit
];
