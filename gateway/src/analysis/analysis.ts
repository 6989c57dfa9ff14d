import type { Encoding } from '@device-insights/dsp-wasm';
import type { Reading } from '../insight.js';
import type { LastInsights, ModalityChannel } from '../store/store.js';

/**
 * A run of instants of one channel, as ingest hands it on: times settled, numbers in order, nothing twice, and within one
 * whole second of data time since the session's first instant.
 */
export interface SampleRun {
  /** Index of the channel in the session. */
  readonly channel: number;
  /** Data time of the first instant, ms since the epoch (shifted as the session says). */
  readonly t: number;
  /** Spacing of the instants, ms. */
  readonly period: number;
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
  /** Slugs that the account is entitled to; null is all. */
  readonly algorithms: readonly string[] | null;
  /** Data time of the session's first instant, where the session has one already (a resume). */
  readonly firstInstant: number | null;
  /** What was published before (a resume): nothing at or before it comes again. */
  readonly last: LastInsights;
  /** Takes each reading, in order of `actual_end` per type. */
  readonly emit: (reading: Reading) => void;
}

/** An R peak of an ECG channel. */
export interface RPeak {
  /** Index of the channel in the session. */
  readonly channel: number;
  /** Data time, ms since the epoch. */
  readonly t: number;
}

/** The signal side of one session: sample runs in, readings out. */
export interface Analysis {
  /** Data time of the session's first instant, whole ms; null before the first run. */
  readonly firstInstant: number | null;
  push(run: SampleRun): void;
  /** The R peaks found since the last call, in order of time per channel. */
  readPeaks(): RPeak[];
  /** Computes the steps that every required channel reached; nothing may be pushed afterwards. */
  end(): void;
  /** Frees the core's slot. Idempotent. */
  close(): void;
}

/** Opens the analyses of one process; null when the signal core is full. */
export type OpenAnalysis = (options: AnalysisOptions) => Analysis | null;
