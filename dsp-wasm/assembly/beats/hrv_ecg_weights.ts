// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence hrv_ecg (src/features.ts). Not fitted yet.
 */
// biome-ignore format: as the lab writes it
export const HRV_ECG_WEIGHTS: StaticArray<f32> = [
  -2,
  -6,
  4,
  0,
  1,
];
