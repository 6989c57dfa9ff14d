import { LONG_RING } from './channel';

/** What the host and the module exchange, at addresses that the host reads from the module's exports, and working memory of a call. */

/** The answer to a request; the host reads the fields in this order. */
@unmanaged
export class Estimate {
  /** NaN if there is none. */
  value: f64;
  confidence: f64;
  /** What was seen that makes the reason, in a unit of its own (reasons.ts). */
  seen: f64;
  /** Standard deviation of the intervals, ms, and share of large differences, %: of the variability only. */
  sdnn: f64;
  pnn50: f64;
}
export const RESULT: usize = memory.data(offsetof<Estimate>(), 16);

/** Times of the staged instants, seconds: passing a float as an argument would allocate memory in the host. */
@unmanaged
export class PushTimes {
  first: f64;
  period: f64;
}
export const PUSH: usize = memory.data(offsetof<PushTimes>(), 16);

/** Incoming payload bytes, and outgoing beats. */
export const STAGING_BYTES: i32 = 0x4000;
export const STAGING: usize = memory.data(STAGING_BYTES, 16);
/** Instants of the staged payload, four f32 lanes each; the smallest value of a payload has two bytes. */
export const DECODED: usize = memory.data((STAGING_BYTES / 2) * 16, 16);
/** Working arrays of one call; their contents end with the call. */
export const SCRATCH: usize = memory.data(0x10000, 16);
/** Grid samples before they are written to the rings, four f32 lanes each: at most a gap as long as the longest ring. */
export const RESAMPLED: usize = memory.data(LONG_RING * 16, 16);
