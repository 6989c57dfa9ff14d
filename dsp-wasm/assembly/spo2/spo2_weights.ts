// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence spo2 (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading
 * weighs 2 times as much as any other. With people left out: calibration error 0.0106 (0.00986 to 0.304), trusted 99.6 (83.3 to 100) %, wrong but trusted 0 (0 to 0) %
 */
// biome-ignore format: as the lab writes it
export const SPO2_WEIGHTS: StaticArray<f32> = [
  -2.47834, // without evidence
  -0.397612, // -scatter
  1.44777, // +share
  -4.759, // -flat
  -6.57943, // -bias
  -1.26625, // -near_one
  3.0834, // +evenness
  0.404313, // +swing
  3.18171, // +skewness
  2.18357, // +pulse
  -0.929146, // -growth
];
