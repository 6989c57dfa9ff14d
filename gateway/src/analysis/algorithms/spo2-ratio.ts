import type { Algorithm, DeviceTraits } from '../algorithm.js';

/** SpO2 = a + b R + c R² of a device without a curve of its own: the usual textbook line (Webster, Design of Pulse Oximeters, 1997). */
const DEFAULT_CURVE = [110, -25] as const;

/** A ratio on the textbook's curve is a guess about this device's optics: never `excellent`. */
const UNCALIBRATED_CONFIDENCE = 0.79;

function saturation(r: number, curve: readonly number[]): number {
  const percent = curve.reduceRight((sum, coefficient) => sum * r + coefficient, 0);
  return Math.min(100, Math.max(0, percent));
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
