// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence rr_resp (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading
 * weighs 2 times as much as any other. With people left out: calibration error 0.0653 (0.0129 to 0.165), trusted 94.7 (85 to 99.6) %, wrong but trusted 0.0227 (0 to 0.0744) %
 */
// biome-ignore format: as the lab writes it
export const RR_RESP_WEIGHTS: StaticArray<f32> = [
  -0.0123655, // without evidence
  1.70436, // +mass
  2.37101, // +likelihood
  -2.21869, // -slowness
];
