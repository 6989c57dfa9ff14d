/** Weights of the confidence in a respiratory rate from an ECG (src/features.ts): without evidence, mass, likelihood, slowness, near_limit. */
export const RR_ECG_WEIGHTS: StaticArray<f32> = [0.933, 1.539, 1.394, -2.152, 0];
