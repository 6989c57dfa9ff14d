import type { Algorithm, DeviceTraits } from '../algorithm.js';

/**
 * SpO2 = a + b R + c R² for a device without its own curve: as Maxim measured it for such sensors (application note
 * 6845).
 */
const DEFAULT_CURVE = [112.69, -34.66, 1.596] as const;

/** Limit of the confidence with the curve of other optics, which is only a guess: never `excellent`. */
const UNCALIBRATED_CONFIDENCE = 0.79;

/**
 * Scale (%) of the logistic distribution of a curve's error with a standard deviation of 2 %, as makers of oximeters
 * state it (regulators allow 3 to 3.5 %).
 */
const CURVE_ERROR = (2 * Math.sqrt(3)) / Math.PI;

/**
 * The expected saturation (%) where the curve gives `percent`: the mean of a logistic distribution around it, cut at
 * 100 %. Saturation cannot exceed 100 %, so a curve that gives 100 or more is more likely too high than right: 100
 * gives 98.5, 97 gives 96.7, and below 95 nothing changes.
 */
function expected(percent: number): number {
  const room = Math.max(-20, (100 - percent) / CURVE_ERROR);
  return 100 - CURVE_ERROR * (1 + Math.exp(-room)) * Math.log1p(Math.exp(room));
}

/**
 * The percentage that the curve gives. Beyond the turning point of the parabola, where real saturations do not lie, the curve would rise
 * again: the value of the turning point is used.
 */
function onCurve(ratio: number, curve: readonly number[]): number {
  const [, b = 0, c = 0] = curve;
  const r = c > 0 && b < 0 ? Math.min(ratio, -b / (2 * c)) : ratio;
  return curve.reduceRight((sum, coefficient) => sum * r + coefficient, 0);
}

/** Range of the percentages that a right curve gives for right ratios; red and infrared swapped give less, as a rule. */
const PLAUSIBLE = [70, 105] as const;
/** Below this, the curve of other optics is too far from the device's own, %. */
const UNCALIBRATED_BELOW = 90;

/** What a percentage on the curve itself gives as the reason, where it is not trusted. */
function doubtOf(percent: number, isCalibrated: boolean): 'implausible_ratio' | 'uncalibrated' | null {
  if (percent < PLAUSIBLE[0] || percent > PLAUSIBLE[1]) return 'implausible_ratio';
  return !isCalibrated && percent < UNCALIBRATED_BELOW ? 'uncalibrated' : null;
}

const algorithm: Algorithm = {
  id: '7048a0b9-9a49-45e4-8055-2159d3e5889b',
  slug: 'spo2-ratio',
  name: 'SpO2 by ratio of ratios',
  description:
    'Blood oxygen over 8 s from the pulsatile red light relative to the infrared, by the calibration curve of the device model.',
  version: '1.0.0',
  type: 'spo2',
  range: [70, 100],
  windowS: 8,
  everyS: 1,
  requires: [['ppg_red'], ['ppg_ir']],
  estimator: 'spo2',
  read: ({ value, confidence }, { spo2Curve }: DeviceTraits) => {
    const percent = onCurve(value, spo2Curve ?? DEFAULT_CURVE);
    return {
      value: Math.max(0, expected(percent)),
      confidence: spo2Curve ? confidence : Math.min(confidence, UNCALIBRATED_CONFIDENCE),
      doubt: doubtOf(percent, spo2Curve !== null),
    };
  },
};

export default algorithm;
