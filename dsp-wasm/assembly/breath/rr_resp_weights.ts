// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence rr_resp (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading
 * weighs 1 times as much as any other. With people left out: calibration error 0.0374 (0.0141 to 0.0737), trusted 98.1 (96.5 to 99.4) %, wrong but trusted 0.0454 (0 to 0.149) %
 */
// biome-ignore format: as the lab writes it
export const RR_RESP_WEIGHTS: StaticArray<f32> = [
  3.06725, // without evidence
  5.27706, // +share
  -1.02829, // -spread
];
