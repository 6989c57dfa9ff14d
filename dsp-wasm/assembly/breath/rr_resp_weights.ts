/** Weights of the confidence in a respiratory rate from effort (src/features.ts): without evidence, mass, likelihood, slowness. */
export const RR_RESP_WEIGHTS: StaticArray<f32> = [-0.201, 1.465, 1.61, -0.524];
