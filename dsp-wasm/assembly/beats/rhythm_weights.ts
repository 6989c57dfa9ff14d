// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence rhythm (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading
 * weighs 2 times as much as any other. With people left out: calibration error 0.0221 (0.00938 to 0.0525), trusted 12.8 (7.13 to 19.4) %, wrong but trusted 0 (0 to 0) %
 */
// biome-ignore format: as the lab writes it
export const RHYTHM_WEIGHTS: StaticArray<f32> = [
  8.17107, // without evidence
  0.0594347, // +lower
  0.948851, // +median
  6.36444, // +entropy
  1.60157, // turns
];
