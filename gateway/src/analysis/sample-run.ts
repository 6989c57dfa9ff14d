import type { Encoding } from '@device-insights/dsp-wasm';

export { BYTES_PER_SAMPLE } from '@device-insights/dsp-wasm';

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
