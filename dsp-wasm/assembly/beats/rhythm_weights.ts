// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence rhythm (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading
 * weighs 2 times as much as any other. With people left out: calibration error 0.0195 (0.0107 to 0.0517), trusted 12.2 (6.51 to 18.7) %, wrong but trusted 0 (0 to 0) %
 */
// biome-ignore format: as the lab writes it
export const RHYTHM_WEIGHTS: StaticArray<f32> = [
  3.72964, // without evidence
  0.3902, // +lower
  0.641099, // +median
  4.60158, // +entropy
  5.25273, // turns
  3.40853, // correlation
];
