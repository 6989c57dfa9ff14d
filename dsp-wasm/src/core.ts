/**
 * The signal core, as used from TypeScript: many sessions in one WebAssembly instance with fixed memory. All computation on
 * sample values is inside the module; this host copies bytes in and estimates out, and never allocates memory per sample.
 *
 * Times are seconds since the session's first instant (`t = 0`). Steps (window ends) are at whole seconds.
 */

import { checkMaxSessions } from './arguments.js';
import type { Estimator } from './estimators.js';
import type { AnswerFeatures } from './features.js';
import { SlotCore } from './instance.js';
import { Kernel } from './kernel.js';
import type { CoreReason } from './reasons.js';
import type { CoreSession } from './session.js';

/** Modalities that the core knows; a channel of another modality is not opened in it. */
export type Modality = 'ppg' | 'ppg_green' | 'ppg_red' | 'ppg_ir' | 'ecg' | 'accel' | 'resp';

export { BYTES_PER_SAMPLE, ENCODING, type Encoding } from './encoding.js';
export type { Estimator } from './estimators.js';
export { type AnswerFeatures, type ConfidenceModel, FEATURES } from './features.js';
export type { CoreReason } from './reasons.js';
export { BEAT_LAG_S, type Beat, type BeatSource, type CoreSession, WINDOW_LAG_S } from './session.js';

export interface CoreChannel {
  readonly modality: Modality;
  /** Nominal rate of the device model, Hz; each push has the true spacing. */
  readonly sampleRateHz: number;
  /** Sub-channels in the payload, at most 64; those after the fourth are skipped. */
  readonly numChannels: number;
  /** Bits of a sample, signed or not, by which a wrong scale is seen. Default: unknown. */
  readonly bitDepth?: number;
}

export interface Estimate {
  /**
   * hr in bpm, rr in breaths per minute; for `spo2` the ratio of ratios R (the curve belongs to the device); for `hrv` RMSSD in ms; for `rhythm` the
   * probability in % that the last 60 s are irregular as in atrial fibrillation.
   */
  readonly value: number;
  /** The estimator's own confidence in [0, 1]: calibrated to P(error within 5 bpm, 3 %, 3 brpm). */
  readonly confidence: number;
  /** Of `hrv` only, otherwise null. */
  readonly variability: Variability | null;
}

/** Variability of the heart rate beside RMSSD. */
export interface Variability {
  /** Standard deviation of the intervals between beats, ms. */
  readonly sdnn: number;
  /** Share of the differences of successive intervals that are greater than 50 ms, %. */
  readonly pnn50: number;
}

/** The answer to a request: what was estimated and, unless that is to be trusted, why. */
export interface Answer {
  readonly estimate: Estimate | null;
  /** Why there is no estimate, or its confidence is below 0.5, as far as the sample values tell; otherwise null. */
  readonly reason: CoreReason | null;
  /**
   * What was seen: the level of the light or lead (`no_contact`, `no_dc`), the share of the instants at an end (`saturated`), the value
   * farthest from zero (`bad_scale`), the share that a sinusoid explains (`hum`), the acceleration in g (`motion`); otherwise 0.
   */
  readonly seen: number;
}

export interface CoreOptions {
  /** Maximum number of sessions of the instance; its memory is reserved at once and never grows. Default 1024. */
  readonly maxSessions?: number;
}

/** `rr_ppg`, `hrv_ppg` and `rhythm_ppg` doubt light without a pulse only if the session's `hr_ppg` is requested every second, too. */
export interface StepRequest {
  readonly session: CoreSession;
  readonly estimator: Estimator;
  /** Window end, a whole number of seconds; ascending per session and estimator. */
  readonly end: number;
}

export interface Core {
  readonly maxSessions: number;
  readonly openSessions: number;
  readonly bytesPerSession: number;
  /**
   * Number of points so far in the four-lane kernels whose lanes are signals (resampling, spectra), and of those in lanes
   * that carried a signal. The difference is unused computation.
   */
  readonly lanes: { readonly points: number; readonly filled: number };
  /**
   * Opens a session, or returns null when the core is full.
   * @throws TypeError or RangeError for a channel with an unknown modality, or a number out of range
   */
  open(channels: readonly CoreChannel[]): CoreSession | null;
  /**
   * Runs each request: filters and detectors advance to `end` and no further, so no estimate uses a later sample. The
   * results are in the order of `requests`; null means no estimate (no pulse, no channel,
   * a session that is closed or of another core).
   * @throws TypeError or RangeError, before any request runs, for an unknown estimator or an `end` that is not whole
   */
  step(requests: readonly StepRequest[]): (Estimate | null)[];
  /** The same, with the reasons for missing and untrusted estimates. */
  answer(requests: readonly StepRequest[]): Answer[];
  /** From what the confidence of the newest answer was computed; null if it has none, or not by a model. */
  features(): AnswerFeatures | null;
}

/**
 * Compiles the core and reserves the memory of its sessions (`maxSessions` x `bytesPerSession`; pages take no physical
 * memory before their first use).
 *
 * @throws TypeError or RangeError if `maxSessions` is not a whole number of 1 or more, or needs over 4 GiB
 */
export async function createCore({ maxSessions = 1024 }: CoreOptions = {}): Promise<Core> {
  checkMaxSessions(maxSessions);
  return new SlotCore(await Kernel.load(maxSessions), maxSessions);
}
