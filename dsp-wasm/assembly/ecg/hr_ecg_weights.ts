/** Weights of the confidence in a heart rate from ECG (src/features.ts): without evidence, then of each feature. */
export const HR_ECG_WEIGHTS: StaticArray<f32> = [
  -3.162, -0.1724, -0.1189, -11.83, 0.3204, 0.741, 1.226, 0.5602, 0, 3.265, 1.48,
];
