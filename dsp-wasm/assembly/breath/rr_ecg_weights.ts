// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence rr_ecg (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading
 * weighs 2 times as much as any other. With people left out: calibration error 0.174 (0.0965 to 0.259), trusted 74.8 (58.4 to 88.7) %, wrong but trusted 0.115 (0 to 0.353) %
 */
// biome-ignore format: as the lab writes it
export const RR_ECG_WEIGHTS: StaticArray<f32> = [
  1.63111, // without evidence
  0.601223, // +mass
  0.53815, // +likelihood
  -1.68838, // -slowness
  -1.93378, // -spread
  4.90142, // +window
  7.62851, // +second
];
