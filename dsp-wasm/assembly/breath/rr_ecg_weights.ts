// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence rr_ecg (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading
 * weighs 1 times as much as any other. With people left out: calibration error 0.0834 (0.0432 to 0.138), trusted 89.9 (79.7 to 97.7) %, wrong but trusted 0.278 (0 to 0.849) %
 */
// biome-ignore format: as the lab writes it
export const RR_ECG_WEIGHTS: StaticArray<f32> = [
  2.38772, // without evidence
  0.507623, // +mass
  0.483786, // +likelihood
  -1.39677, // -spread
  -1.31783, // -slowness
  2.45623, // +window
  6.16231, // +second
  0.115634, // +heartbeats
];
