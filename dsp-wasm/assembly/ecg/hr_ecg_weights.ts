/** Weights of the confidence in a heart rate from ECG (src/features.ts): without evidence, then of each feature. */
export const HR_ECG_WEIGHTS: StaticArray<f32> = [
  -3.255, -0.1756, -0.1261, -11.73, 0.3243, 0.8825, 1.205, 0.5498, 0, 3.469, 1.531,
];
