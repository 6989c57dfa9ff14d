// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/** Weights of the confidence hr_ppg_rest (src/features.ts). */
// biome-ignore format: as the lab writes it
export const HR_PPG_REST_WEIGHTS: StaticArray<f32> = [
  5.148, // without evidence
  1.367, // +likelihood
  -1.216, // -unrest
  -1.01, // -off_track
  -0.438, // -margin
  -6.273, // -unsteadiness
  -1.586, // -short
  -0.799, // -edge
  -0.609, // -gap
  -0.547, // -step
];
