// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence rr_resp (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading
 * weighs 2 times as much as any other. With people left out: calibration error 0.0554 (0.0216 to 0.0997), trusted 95.8 (92.1 to 98.8) %, wrong but trusted 0.0454 (0 to 0.149) %
 */
// biome-ignore format: as the lab writes it
export const RR_RESP_WEIGHTS: StaticArray<f32> = [
  3.88575, // without evidence
  0.452136, // +mass
  1.93835, // +likelihood
  0, // -slowness
  -1.13113, // -spread
];
