// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence rhythm (src/features.ts). Not fitted yet.
 */
// biome-ignore format: as the lab writes it
export const RHYTHM_WEIGHTS: StaticArray<f32> = [
  12,
  2,
  2,
];
