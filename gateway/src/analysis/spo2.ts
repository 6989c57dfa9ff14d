import type { Estimate } from '@device-insights/dsp-wasm';
import type { DeviceTraits, Read } from './algorithm.js';

/**
 * SpO2 = a + b R + c R² for a device without its own curve: as Maxim measured it for such sensors (application note
 * 6845).
 */
const DEFAULT_CURVE = [112.69, -34.66, 1.596] as const;

/** Limit of the confidence with the curve of other optics, which is only a guess: never `excellent`. */
const UNCALIBRATED_CONFIDENCE = 0.79;
/** Limit of the confidence of a reading that is never trusted (doubtOf). */
const UNTRUSTED_CONFIDENCE = 0.49;

/** Standard deviation of a curve's error from 70 to 100 %, as makers of oximeters state it (regulators allow 3 to 3.5 %). */
const CURVE_DEVIATION = 2;
/** Scale of a logistic distribution with a standard deviation of 1. */
const LOGISTIC_SCALE = Math.sqrt(3) / Math.PI;
const CURVE_ERROR = CURVE_DEVIATION * LOGISTIC_SCALE;

/**
 * Standard deviation of R between people, relative to R. R differs mainly because red and infrared take different paths
 * through the tissue, so its error is proportional to R (Feiner, Severinghaus and Bickler, Anesth. Analg. 105, 2007). On
 * SpO2 = 110 - 25 R it has the root mean square CURVE_DEVIATION from 70 to 100 %, where 25 R goes from 10 to 40.
 */
const RATIO_DEVIATION = CURVE_DEVIATION / Math.sqrt((40 ** 3 - 10 ** 3) / (3 * 30));

/** An error of at most this is in tolerance (%): below 90 % the A_rms that ISO 80601-2-61 allows. */
const toleranceAt = (percent: number) => (percent < 90 ? 4 : 3);

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
 * The ratio to read on the curve. Beyond the turning point of the parabola, where real saturations do not lie, the curve
 * would rise again: the turning point is used.
 */
function onCurve(ratio: number, [, b = 0, c = 0]: readonly number[]): number {
  return c > 0 && b < 0 ? Math.min(ratio, -b / (2 * c)) : ratio;
}

/** The probability that a reading is in tolerance: the deviation of R, times the slope of the curve, is that of the reading. */
function certainty(ratio: number, percent: number, [, b = 0, c = 0]: readonly number[]): number {
  const deviation = Math.abs(b + 2 * c * ratio) * ratio * RATIO_DEVIATION;
  return Math.tanh(toleranceAt(percent) / (2 * LOGISTIC_SCALE * deviation));
}

/**
 * Range of the percentages that a right curve gives for right ratios: 70 to 100 %, 1 % for the noise below, and 5 % above.
 * Red and infrared swapped give less: on 110 - 25 R, 95 % reads as 68.
 */
const PLAUSIBLE = [69, 105] as const;
/** Below this, the curve of other optics is too far from the device's own, %. */
const UNCALIBRATED_BELOW = 90;

/** Why a percentage on the curve is never trusted. */
function doubtOf(percent: number, isCalibrated: boolean): 'implausible_ratio' | 'uncalibrated' | null {
  if (percent < PLAUSIBLE[0] || percent > PLAUSIBLE[1]) return 'implausible_ratio';
  return !isCalibrated && percent < UNCALIBRATED_BELOW ? 'uncalibrated' : null;
}

/** Reads a ratio of ratios on the calibration curve of the device. */
export function readSpo2(
  { value, confidence }: Pick<Estimate, 'value' | 'confidence'>,
  { spo2Curve }: DeviceTraits,
): Read {
  const curve = spo2Curve ?? DEFAULT_CURVE;
  const ratio = onCurve(value, curve);
  const percent = curve.reduceRight((sum, coefficient) => sum * ratio + coefficient, 0);
  const doubt = doubtOf(percent, spo2Curve !== null);
  const limit = doubt ? UNTRUSTED_CONFIDENCE : spo2Curve ? 1 : UNCALIBRATED_CONFIDENCE;
  return {
    value: Math.max(0, expected(percent)),
    confidence: Math.min(confidence * certainty(ratio, percent, curve), limit),
    doubt,
  };
}
