// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence rhythm (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading
 * weighs 2 times as much as any other. With people left out: calibration error 0.0203 (0.0147 to 0.049), trusted 14.6 (8.37 to 22) %, wrong but trusted 0 (0 to 0) %
 */
// biome-ignore format: as the lab writes it
export const RHYTHM_WEIGHTS: StaticArray<f32> = [
  6.45316, // without evidence
  0.673569, // +lower
  1.305, // +median
  4.198, // +entropy
  6.16341, // turns
  3.82932, // correlation
];
