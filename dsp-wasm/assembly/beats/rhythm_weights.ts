// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence rhythm (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading
 * weighs 2 times as much as any other. With people left out: calibration error 0.0193 (0.0125 to 0.0482), trusted 15.1 (8.76 to 22.6) %, wrong but trusted 0 (0 to 0) %
 */
// biome-ignore format: as the lab writes it
export const RHYTHM_WEIGHTS: StaticArray<f32> = [
  6.90679, // without evidence
  0.777956, // +lower
  1.31748, // +median
  4.16409, // +entropy
  5.87444, // turns
  4.03195, // correlation
];
