import type { Estimate, Estimator, Modality } from '@device-insights/dsp-wasm';
import type { InsightType } from '../insight.js';

/** An algorithm of the registry: one file under `algorithms/` each. */
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
  /** Turns the core's estimate into a reading's value, in the type's unit, unrounded. */
  readonly value: (estimate: Estimate, device: DeviceTraits) => number;
}

/** What an algorithm may know of the device. */
export interface DeviceTraits {
  /** a, b[, c] of SpO2 = a + b R + c R²; null where the device has no curve. */
  readonly spo2Curve: readonly number[] | null;
}
