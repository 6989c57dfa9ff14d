// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence rr_ppg (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading
 * weighs 2 times as much as any other. With people left out: calibration error 0.1 (0.0585 to 0.158), trusted 82 (70.2 to 90.5) %, wrong but trusted 0.0928 (0 to 0.266) %
 */
// biome-ignore format: as the lab writes it
export const RR_PPG_WEIGHTS: StaticArray<f32> = [
  3.67192, // without evidence
  1.33833, // +mass
  1.53051, // +likelihood
  0, // -slowness
  -1.19539, // -spread
];
