/** Weights of the confidence in a respiratory rate from light (src/features.ts): without evidence, mass, likelihood, slowness, near_limit. */
export const RR_PPG_WEIGHTS: StaticArray<f32> = [0.316, 1.573, 1.835, -0.365, -54.723];
