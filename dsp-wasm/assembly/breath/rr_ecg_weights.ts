// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence rr_ecg (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading
 * weighs 1 times as much as any other. With people left out: calibration error 0.0792 (0.0415 to 0.132), trusted 90 (79.8 to 97.6) %, wrong but trusted 0.0463 (0 to 0.141) %
 */
// biome-ignore format: as the lab writes it
export const RR_ECG_WEIGHTS: StaticArray<f32> = [
  2.80976, // without evidence
  0.40721, // +mass
  0.497738, // +likelihood
  -1.48479, // -spread
  -1.55375, // -slowness
  2.4158, // +window
  5.95831, // +second
  0.112216, // +heartbeats
];
