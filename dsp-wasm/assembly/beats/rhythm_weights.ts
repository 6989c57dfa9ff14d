// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence rhythm (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading
 * weighs 2 times as much as any other. With people left out: calibration error 0.0202 (0.0145 to 0.0491), trusted 14.6 (8.37 to 22) %, wrong but trusted 0 (0 to 0) %
 */
// biome-ignore format: as the lab writes it
export const RHYTHM_WEIGHTS: StaticArray<f32> = [
  6.43661, // without evidence
  0.672426, // +lower
  1.30268, // +median
  4.19703, // +entropy
  6.17481, // turns
  3.83027, // correlation
];
