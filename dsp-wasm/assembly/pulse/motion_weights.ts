/**
 * The network of motion.ts: a row for each of its hidden units, the weights of the twelve traits, the unit's bias, and its
 * weight in the sum. Fitted: softmax regression of the reference's rate over the candidates, on recordings in motion and on
 * benches of motion made of them. These come from an earlier fit than `npm run fit` makes; its own read the bench better and
 * fail a test of an arm's swing. Table 5 of ACCURACY.md is by `npm run fit`.
 */
export const MOTION_WEIGHTS: StaticArray<f32> = [
  -0.3873, 0.3505, -0.2762, -0.0426, -0.0086, -0.1244, -0.6818, 0.4806, -0.0683, 0.6316, 0.1456, -0.318, -0.2799,
  0.8651, 0.0114, -0.1673, 0.2871, -0.655, -0.6641, -0.2971, 0.4866, -0.2356, -0.0445, -0.0165, 0.0234, 4.5144, -2.5995,
  -1.0362, -0.1184, -0.1497, -0.0908, 0.175, 0.1951, -0.313, 0.1894, -0.4457, -0.1592, 0.2125, 0.0646, -3.2629, 0.6652,
  -0.9415, -0.3619, -0.4192, 0.0897, 0.2134, -0.2109, -0.1934, -0.322, -0.2609, 0.7434, -0.2601, -0.1408, 3.622, -1.061,
  -0.8292, 0.1736, -0.3079, -0.1319, -0.3047, -0.3323, -0.1038, -0.0308, 0.0643, 0.0599, -0.0635, -0.1337, -5.118,
  -0.8737, -1.0318, 0.1636, 0.2405, 0.0594, 0.7865, 0.1681, 0.2668, -0.176, -0.1099, -0.7047, 0.0871, 0.2297, 0.004,
  0.8027, 0.663, 0.2958, -0.1706, 0.0845, 0.07, 0.0396, 0.3294, -0.8474, 0.8924, -0.348, 0.0451, 0.129, 0.8828, 1.9545,
  -0.8459, -0.2661, -0.2056, -0.3017, -0.3124, 1.0406, 0.2302, 0.0339, -0.6126, 0.4298, 0.0097, 0.1305, 3.253, -0.8923,
  -0.5764,
];
