/** Tuning of the grid. The brackets are explained in CONTRIBUTING.md. */

// ---- resample.ts ----
/** Longest gap that is bridged by interpolation. [s; cited: the ingest protocol, gateway/INGEST.md] */
export const BRIDGE_SECONDS: f64 = 0.25;
/** The same in an ECG: half of the shortest QRS complex. [s; chosen] */
export const ECG_BRIDGE_SECONDS: f64 = 0.04;
/** Time resolution: rounding makes `t + i * period` the same number however it was chunked. [steps/s; derived: from f64, 2^20] */
export const TICKS: f64 = 1048576;
/** Larger readings are clamped: past any converter, and small enough that powers of a window stay finite in f32. [counts; chosen] */
export const LIMIT: f32 = 1e12;
/** Later times are not taken: 97 days of ECG. [grid samples; derived: from i32, in which grid samples are numbered] */
export const FAR: f64 = 1e9;

// ---- decode.ts ----
/** A larger offset does not come from a converter, but is one wild float. [counts; derived: from converters of 32 bits, 2^32] */
export const WILD: f64 = 4294967296;
/** Part of such an offset below which the next value shows that it was wild. [ratio; chosen] */
export const WILD_SHARE: f64 = 0.001;

// ---- activity.ts ----
/** Acceleration up to which a wearer is at rest: a turn of the wrist reaches it. [g; chosen] */
export const STILL: f64 = 0.1;
/** Acceleration from which a wearer moves: of the SpO2 of people who exercise, none that was above it was right. [g; chosen] */
export const MOVING: f64 = 0.25;
/** Acceleration up to which a wearer is at rest who never is without it: at rest most have 0.002 to 0.015, breath included. [g; chosen] */
export const RESTING: f64 = 0.016;
/** The same from which the wearer moves all the time: a rocking chair has 0.02 to 0.05. [g; chosen] */
export const STIRRING: f64 = 0.024;

// ---- usual.ts ----
/** Confidence from which on a reading is trusted, and tells what is usual. [probability; chosen] */
export const TRUSTED: f64 = 0.5;
/** Growth that no movement has, a hundred times: before, the sensor was off the skin. [log ratio; chosen] */
export const MOST_GROWTH: f64 = 4.6;
/** Share of this window in the usual size of the pulse where that falls: half a minute of memory. [share; chosen] */
export const USUAL_FALL: f64 = 0.03;
/** The same where it rises: five minutes. [share; chosen] */
export const USUAL_RISE: f64 = 0.003;
