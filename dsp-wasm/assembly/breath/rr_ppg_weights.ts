// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence rr_ppg (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading
 * weighs 2 times as much as any other. With people left out: calibration error 0.099 (0.0585 to 0.159), trusted 82.1 (70.2 to 90.6) %, wrong but trusted 0.146 (0 to 0.393) %
 */
// biome-ignore format: as the lab writes it
export const RR_PPG_WEIGHTS: StaticArray<f32> = [
  3.26345, // without evidence
  1.3115, // +mass
  1.53935, // +likelihood
  0, // -slowness
  -1.10167, // -spread
];
