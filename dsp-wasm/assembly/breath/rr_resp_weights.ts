// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence rr_resp (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading
 * weighs 2 times as much as any other. With people left out: calibration error 0.0563 (0.0197 to 0.108), trusted 95.5 (90.8 to 99.1) %, wrong but trusted 0.0454 (0 to 0.149) %
 */
// biome-ignore format: as the lab writes it
export const RR_RESP_WEIGHTS: StaticArray<f32> = [
  4.10012, // without evidence
  0.447317, // +mass
  1.72794, // +likelihood
  -0.505816, // -slowness
  -1.1525, // -spread
];
