// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence spo2 (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading
 * weighs 2 times as much as any other. With people left out: calibration error 0.0106 (0.00985 to 0.304), trusted 99.6 (83.3 to 100) %, wrong but trusted 0 (0 to 0) %
 */
// biome-ignore format: as the lab writes it
export const SPO2_WEIGHTS: StaticArray<f32> = [
  -2.47806, // without evidence
  -0.397959, // -scatter
  1.44743, // +share
  -4.75885, // -flat
  -6.5802, // -bias
  -1.26633, // -near_one
  3.08344, // +evenness
  0.404293, // +swing
  3.18018, // +skewness
  2.18507, // +pulse
  -0.927804, // -growth
];
