import type { Estimate, Estimator, Modality } from '@device-insights/dsp-wasm';
import type { Beat } from '../beat.js';
import type { InsightType } from '../insight.js';

/** What an account can be entitled to. */
export interface AnyAlgorithm {
  /** UUID, never changed. */
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly type: InsightType | 'beats';
  /** Window length and cadence, whole seconds: the same for all algorithms of a type. */
  readonly windowS: number;
  readonly everyS: number;
  /** Time from a window's end to the step that computes it, whole seconds: what it is computed from is final then. Default: none. */
  readonly lagS?: number;
  /** Required modalities: of each list, one that has data. */
  readonly requires: readonly (readonly Modality[])[];
  /** Modalities that are used if the session has them: a window waits for their data, but not long. */
  readonly uses?: readonly Modality[];
  /** Minimum sample rate of its channels for a trusted reading, Hz. Default: any. */
  readonly leastRateHz?: number;
  /**
   * Where a rhythm of gaps may pass for what is measured: the longest step from one instant to the next that the core bridges,
   * seconds. Gaps beyond that leave their trace in the estimate.
   */
  readonly bridgedS?: number;
  readonly estimator: Estimator;
}

/** An algorithm that computes readings. */
export interface Algorithm extends AnyAlgorithm {
  readonly type: InsightType;
  /** Range of its values, in the type's unit. */
  readonly range: readonly [least: number, most: number];
  /**
   * Converts the core's estimate into a reading in the type's unit, unrounded. `doubt` is what a value itself gives as the
   * reason, where it is not trusted.
   */
  readonly read: (estimate: Estimate, device: DeviceTraits) => Read;
}

/** An algorithm that keeps the beats of a source; its estimator finds them. */
export interface BeatAlgorithm extends AnyAlgorithm {
  readonly type: 'beats';
  readonly source: Beat['source'];
}

/** A reading of an algorithm. */
export interface Read {
  readonly value: number;
  readonly confidence: number;
  readonly doubt?: 'implausible_ratio' | 'uncalibrated' | null;
}

/** The properties of the device that an algorithm may use. */
export interface DeviceTraits {
  /** a, b[, c] of SpO2 = a + b R + c R²; null if the device has no calibration curve. */
  readonly spo2Curve: readonly number[] | null;
}

/** The reading of an algorithm whose estimate is already in its type's unit and has its own confidence. */
export function asEstimated({ value, confidence }: Estimate): Read {
  return { value, confidence };
}
