import type { Encoding } from '@device-insights/dsp-wasm';
import type { Reading } from '../insight.js';
import type { LastInsights, ModalityChannel } from '../store/store.js';

export { BYTES_PER_SAMPLE } from '@device-insights/dsp-wasm';
export type { NoReading } from './no-reading.js';

/** Gaps of up to this long are bridged (ingest protocol, section 4), ms. */
export const BRIDGED_MS = 250;

/**
 * A run of instants of one channel, from ingest: with final times, numbers in order, no repetitions, and within one
 * whole second of data time since the session's first instant.
 */
export interface SampleRun {
  /** Index of the channel in the session. */
  readonly channel: number;
  /** Data time of the first instant, ms since the epoch (with the session's clock shift). */
  readonly t: number;
  /** Spacing of the instants, ms. */
  readonly period: number;
  /**
   * Whether these are the real times of the samples; without a clock they may be counted at an unknown rate, and a device
   * may send them in the wrong order.
   */
  readonly trusted: boolean;
  /** Instants known to be lost directly before this run (missing numbers). */
  readonly lost: number;
  readonly encoding: Encoding;
  /** Whole instants, interleaved, little endian. Not kept after the call. */
  readonly payload: Uint8Array;
}

export interface AnalysisOptions {
  readonly sessionId: string;
  readonly deviceId: string;
  readonly channels: readonly ModalityChannel[];
  readonly spo2Curve: readonly number[] | null;
  /** Slugs of the algorithms that the account is entitled to; null means all. */
  readonly algorithms: readonly string[] | null;
  /** Data time of the session's first instant, if the session has one already (after a resume). */
  readonly firstInstant: number | null;
  /** The newest published insights (after a resume): readings at or before them are not repeated. */
  readonly last: LastInsights;
}

/** What a run of samples led to. */
export interface Analysed {
  /** In order of `actual_end` within each type. */
  readonly readings: readonly Reading[];
  /**
   * True if the run comes so far behind those of other channels that windows passed without it, and false for the first
   * one that no longer does; otherwise null.
   */
  readonly late: boolean | null;
}

/** An R peak of an ECG channel. */
export interface RPeak {
  /** Index of the channel in the session. */
  readonly channel: number;
  /** Data time, ms since the epoch. */
  readonly t: number;
}
