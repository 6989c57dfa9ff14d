// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence rr_ecg (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading
 * weighs 1 times as much as any other. With people left out: calibration error 0.0882 (0.0486 to 0.138), trusted 85.3 (72.6 to 95.6) %, wrong but trusted 0.6 (0 to 1.51) %
 */
// biome-ignore format: as the lab writes it
export const RR_ECG_WEIGHTS: StaticArray<f32> = [
  2.78654, // without evidence
  0.516431, // +mass
  0.567054, // +likelihood
  -1.48071, // -spread
  -1.1855, // -slowness
  2.46881, // +window
  5.22586, // +second
  0.116454, // +heartbeats
];
