// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants
/**
 * Weights of the confidence spo2 (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading
 * weighs 2 times as much as any other. With people left out: calibration error 0.0105 (0.00975 to 0.303), trusted 99.6 (83.3 to 100) %, wrong but trusted 0 (0 to 0) %
 */
// biome-ignore format: as the lab writes it
export const SPO2_WEIGHTS: StaticArray<f32> = [
  -2.43073, // without evidence
  -0.401821, // -scatter
  1.37412, // +share
  -4.78154, // -flat
  -6.62154, // -bias
  -1.2553, // -near_one
  3.1246, // +evenness
  0.401198, // +swing
  3.24802, // +skewness
  2.12675, // +pulse
  -0.904425, // -growth
];
