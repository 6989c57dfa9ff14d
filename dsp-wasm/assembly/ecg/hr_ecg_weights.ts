/** Weights of the confidence in a heart rate from ECG (src/features.ts): without evidence, then of each feature. */
export const HR_ECG_WEIGHTS: StaticArray<f32> = [
  -3.284, -0.1769, -0.1224, -11.74, 0.3228, 0.9102, 1.211, 0.5486, 3.512, 1.533,
];
