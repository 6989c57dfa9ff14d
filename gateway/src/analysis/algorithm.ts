import type { Estimate, Estimator, Modality } from '@device-insights/dsp-wasm';
import type { InsightType } from '../insight.js';

/** An algorithm of the registry: the default export of one file under `algorithms/`. */
export interface Algorithm {
  /** UUID, unchanged for ever. */
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly type: InsightType;
  /** Window length and cadence, whole seconds. */
  readonly windowS: number;
  readonly everyS: number;
  /** What it requires: of each list, the first modality that the session has. */
  readonly requires: readonly (readonly Modality[])[];
  readonly estimator: Estimator;
  /** Turns the core's estimate into a reading in the type's unit, unrounded; a null confidence asks for the generic one. */
  readonly read: (estimate: Estimate, device: DeviceTraits) => { value: number; confidence: number | null };
}

/** What an algorithm may know of the device. */
export interface DeviceTraits {
  /** a, b[, c] of SpO2 = a + b R + c R²; null where the device has no curve. */
  readonly spo2Curve: readonly number[] | null;
}

/** The reading of an algorithm whose estimate is already in its type's unit, with a confidence of its own. */
export function asEstimated(estimate: Estimate): { value: number; confidence: number } {
  return { value: estimate.value, confidence: estimate.confidence };
}
