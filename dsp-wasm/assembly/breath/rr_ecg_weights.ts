// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence rr_ecg (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading
 * weighs 2 times as much as any other. With people left out: calibration error 0.189 (0.108 to 0.274), trusted 73.3 (56.5 to 88) %, wrong but trusted 0.0923 (0 to 0.282) %
 */
// biome-ignore format: as the lab writes it
export const RR_ECG_WEIGHTS: StaticArray<f32> = [
  1.47452, // without evidence
  0.89, // +mass
  0.561845, // +likelihood
  -0.934214, // -slowness
  -1.84338, // -spread
  4.57766, // +window
  7.87187, // +second
];
