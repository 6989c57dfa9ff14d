/** Tuning of the grid. The brackets are explained in CONTRIBUTING.md. */

// ---- resample.ts ----
/** Maximum length of a gap that is bridged by interpolation. [s; cited: the ingest protocol, gateway/INGEST.md] */
export const BRIDGE_SECONDS: f64 = 0.25;
/** The same in an ECG: half of the shortest QRS complex. [s; derived: QRS complexes last 80 to 120 ms] */
export const ECG_BRIDGE_SECONDS: f64 = 0.04;
/** Time resolution: rounding makes `t + i * period` the same number however it was chunked. [steps/s; derived: from f64, 2^20] */
export const TICKS: f64 = 1048576;
/** Larger readings are clamped: past any converter, and small enough that powers of a window stay finite in f32. [counts; derived: from f32, whose greatest is 3e38] */
export const LIMIT: f32 = 1e12;
/** Later times are not taken: 97 days of ECG. [grid samples; derived: from i32, in which grid samples are numbered] */
export const FAR: f64 = 1e9;

// ---- decode.ts ----
/** A larger offset does not come from a converter, but is one wild float, as the next value that is smaller shows. [counts; derived: from converters of 32 bits, 2^32] */
export const WILD: f64 = 4294967296;

// ---- activity.ts ----
/** Acceleration up to which a wearer is at rest: a turn of the wrist reaches it. [g; chosen] */
export const STILL: f64 = 0.1;
/** Acceleration above which a wearer moves: of the SpO2 of people who exercise, none that was above it was right. [g; derived: twice STILL] */
export const MOVING: f64 = 2 * STILL;
/** Acceleration up to which a wearer is at rest who never is without it: at rest most have 0.002 to 0.015, breath included. [g; fitted: npm run fit -- --constants] */
export const RESTING: f64 = 0.016;
/** The same above which the wearer moves all the time: a rocking chair has 0.02 to 0.05. [g; fitted: npm run fit -- --constants] */
export const STIRRING: f64 = 0.024;

// ---- usual.ts ----
/** Minimum confidence of a trusted reading; usual values are learnt from trusted readings. [probability; derived: README] */
export const TRUSTED: f64 = 0.5;
/** Growth that no pulse has: before, the sensor was off the skin. [log ratio; cited: Masimo, perfusion index of 0.02 to 20 %, a thousand times] */
export const MOST_GROWTH: f64 = 6.9;
/** Share of this window in the usual size of the pulse where that falls: half a minute of memory. [share; chosen] */
export const USUAL_FALL: f64 = 0.03;
/** The same where it rises: five minutes. [share; chosen] */
export const USUAL_RISE: f64 = 0.003;

// ---- span.ts: only the reasons for missing readings depend on these ----
/** Memory of what the raw values are like: the window of a heart rate. [s; derived: the windows of hr and SpO2] */
export const SPAN_SECONDS: f64 = 8;
/** Maximum number of instants that are observed in a second, with their neighbours. [Hz; derived: SLOW_HZ, the grid of all but the ECG] */
export const OBSERVED_HZ: f64 = 32;
/** Minimum number of observed instants that tell anything, of half a second. [grid samples; derived: OBSERVED_HZ / 2] */
export const LEAST_OBSERVED: f32 = 16;
/** Share of the instants at an end of the declared range above which it is saturated. [share; cited: the ingest protocol, gateway/INGEST.md] */
export const AT_ENDS: f64 = 0.05;
/** Share of the instants that rest at an extreme of their own above which it is. [share; fitted: npm run fit -- --constants, on benches] */
export const AT_REST: f64 = 0.25;
/** Share of the instants outside twice the declared range above which the scale is wrong. [share; derived: AT_ENDS] */
export const OUTSIDE: f64 = 0.05;
/** Share of steps across half of the range above which it is: a slow signal of a wrong byte order has 0.03. [share; fitted: npm run fit -- --constants, on benches] */
export const WRAPPED: f64 = 0.01;
/** Range, as part of the lowest, of the bits of floats that are read as integers: the exponent, which hardly changes, makes the level. [share; derived: a pulse of 5 % is a part of 0.0006] */
export const FLOAT_RANGE: f64 = 0.001;
/** Part of the power of two that holds all values from which a step is a wrap. [share; derived: all of it less what the signal itself steps, a quarter at most] */
export const WRAP_SHARE: f32 = 0.75;
/** Part of a word that values fill which wrap in it. [share; derived: half of what a wrap may lack (WRAP_SHARE) is left] */
export const FILLED: f32 = 0.875;
/** Number of wraps that a step between a quarter and three quarters of it speaks against. [counts; derived: noise that fills the range has eight such steps for each of a wrap's size, twice what counts as none] */
export const OF_GREATS: f32 = 0.25;
/** Maximum number of declared bits that are those of a converter rather than of the word that holds its counts. [counts; derived: from converters, at most 22 for light] */
export const CONVERTER_BITS: i32 = 22;
/** Bits that a converter has at least, if the declared ones are those of a word of three bytes. [counts; derived: from converters for light] */
export const LEAST_BITS: i32 = 18;
/** Part of the declared range below which light is that of free air. [share; chosen] */
export const FREE_AIR: f64 = 0.015625;
/** Part of the level of a trusted reading below which light has lost its contact; half of it for the range of an ECG. [share; fitted: npm run fit -- --constants, on benches] */
export const CONTACT_FALL: f64 = 0.25;
/** Range of an ECG without contact: the noise of a converter's last two bits. [counts; derived: from converters, 3 counts to each side] */
export const FLAT_COUNTS: f64 = 6;
/** Range of a signal that has few levels: resting at the highest or the lowest one does not show a limit. [counts; derived: from converters, a pulse in their last four bits] */
export const COARSE_COUNTS: f64 = 16;
/** Maximum value that a device means, 2^40. [counts; derived: from converters of 32 bits, with a factor for units] */
export const GREATEST: f32 = 1099511627776;
/** Smallest one but zero: floats whose bytes are in another order are below it. [counts; derived: from f32, whose least is 1e-38] */
export const SMALLEST: f32 = 1e-30;
/** Share of such floats above which the scale is wrong; a smooth signal has some where it ends. [share; chosen] */
export const TINY: f64 = 0.25;

// ---- reason.ts ----
/** Part of its level beyond which light changes only where its constant part is missing; a perfusion of 20 % is the highest. [share; derived: twice that, for breath and drift] */
export const MOST_OF_LEVEL: f64 = 0.4;
/** Distance of the differences that show a slow sinusoid, in parts of a second. [Hz; fitted: npm run fit -- --constants, on benches] */
export const SINE_REACH: i32 = 16;
/** Share of the third differences that no sinusoid explains, up to which there is one; of white noise, a fifth. [share; derived: half of that of white noise] */
export const SINE_REST: f64 = 0.1;
