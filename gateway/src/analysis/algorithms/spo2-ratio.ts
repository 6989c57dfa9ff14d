import type { Algorithm, DeviceTraits } from '../algorithm.js';

/** SpO2 = a + b R + c R² of a device without a curve of its own: the usual textbook line (Webster, Design of Pulse Oximeters, 1997). */
const DEFAULT_CURVE = [110, -25] as const;

/** A ratio on the textbook's curve is a guess about this device's optics: never `excellent`. */
const UNCALIBRATED_CONFIDENCE = 0.79;

/**
 * Scale (%) of the logistic distribution of a curve's error with a standard deviation of 2 %, as makers of oximeters
 * state it (regulators allow 3 to 3.5 %).
 */
const CURVE_ERROR = (2 * Math.sqrt(3)) / Math.PI;

/**
 * The saturation (%) to expect where the curve says `percent`: the mean of a logistic distribution around it, cut at
 * 100. No blood is above 100 %, so a curve that says 100 or more is more likely too high than right: 100 gives 98.5,
 * 97 gives 96.7, below 95 nothing changes.
 */
function expected(percent: number): number {
  const room = Math.max(-20, (100 - percent) / CURVE_ERROR);
  return 100 - CURVE_ERROR * (1 + Math.exp(-room)) * Math.log1p(Math.exp(room));
}

function saturation(r: number, curve: readonly number[]): number {
  const percent = curve.reduceRight((sum, coefficient) => sum * r + coefficient, 0);
  return Math.max(0, expected(percent));
}

const algorithm: Algorithm = {
  id: '7048a0b9-9a49-45e4-8055-2159d3e5889b',
  slug: 'spo2-ratio',
  name: 'SpO2 by ratio of ratios',
  description:
    'Blood oxygen over 8 s from the pulsatile red light relative to the infrared, on the curve of the device model.',
  version: '1.0.0',
  type: 'spo2',
  windowS: 8,
  everyS: 1,
  requires: [['ppg_red'], ['ppg_ir']],
  estimator: 'spo2',
  read: ({ value, confidence }, { spo2Curve }: DeviceTraits) => ({
    value: saturation(value, spo2Curve ?? DEFAULT_CURVE),
    confidence: spo2Curve ? confidence : Math.min(confidence, UNCALIBRATED_CONFIDENCE),
  }),
};

export default algorithm;
