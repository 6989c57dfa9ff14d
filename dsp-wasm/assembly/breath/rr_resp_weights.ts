// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence rr_resp (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading
 * weighs 1 times as much as any other. With people left out: calibration error 0.0406 (0.015 to 0.0805), trusted 97.7 (95.8 to 99.3) %, wrong but trusted 0.0454 (0 to 0.149) %
 */
// biome-ignore format: as the lab writes it
export const RR_RESP_WEIGHTS: StaticArray<f32> = [
  3.68955, // without evidence
  5.32525, // +share
  -1.13939, // -spread
];
