/** Weights of the confidence in a heart rate in motion (src/features.ts): without evidence, belief, support, seen_apart. */
export const HR_PPG_MOTION_WEIGHTS: StaticArray<f32> = [-4, 2, 1.5, 6];
