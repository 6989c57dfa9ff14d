/** Tuning of the grid. */

// ---- resample.ts ----
/** Longest gap that is bridged by interpolation, seconds (ingest protocol, section 4). */
export const BRIDGE_SECONDS: f64 = 0.25;
/** Time resolution, in steps per second: rounding makes `t + i * period` the same number however it was chunked. */
export const TICKS: f64 = 1048576;
/** Larger readings are clamped: past any converter, and small enough that powers of a window stay finite in f32. */
export const LIMIT: f32 = 1e12;
/** Times past this many grid samples (97 days of ecg) are not taken. */
export const FAR: f64 = 1e9;

// ---- decode.ts ----
/** An offset above this does not come from a converter, but is one wild float. */
export const WILD: f64 = 4294967296;
