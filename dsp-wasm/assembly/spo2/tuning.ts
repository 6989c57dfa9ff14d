/** Tuning of the ratio of ratios. */

// ---- ratio.ts ----
/** Least correlation of the two channels within a second for it to count; noise alone hardly reaches it. */
export const ACCEPTED: f64 = 0.7;
/** Least share of a second's slopes for it to count: half. */
export const ENOUGH_SLOPES: f64 = 16;
/** Fewest seconds of a window that count. */
export const LEAST_SECONDS: i32 = 3;

// ---- confidence.ts ----
/** Correlations of the channels up to which nothing is trusted, and from which everything is. */
export const LEAST_CORRELATION: f64 = 0.6;
export const ENOUGH_CORRELATION: f64 = 0.9;
/** The same for the infrared pulse, relative to its level. */
export const LEAST_PERFUSION: f64 = 0.00005;
export const ENOUGH_PERFUSION: f64 = 0.0002;
/** The same for how evenly the swings are spread over the seconds. */
export const LEAST_EVEN: f64 = 0.2;
export const ENOUGH_EVEN: f64 = 0.4;
/** The same for the share of the slopes' power that changes within a second. */
export const LEAST_SWING: f64 = 0.05;
export const ENOUGH_SWING: f64 = 0.2;
/** P(within 3 %) of a clean window at a ratio up to SAFE_RATIO, and how much of it is lost from HIGH_RATIO on. */
export const CLEAN_CERTAINTY: f64 = 0.95;
export const HIGH_RATIO_LOSS: f64 = 0.55;
export const SAFE_RATIO: f64 = 0.65;
export const HIGH_RATIO: f64 = 0.8;

// ---- pulsatility.ts ----
/** Slowest and fastest pulse that is searched for, in grid samples per beat: 40 and 190 bpm. */
export const LAG_MAX: i32 = 48;
export const LAG_MIN: i32 = 10;
/** Correlation at a shorter lag from which the channels count as humming. */
export const SOONER: f64 = 0.5;
/** Height of the autocorrelation up to which the slopes are not a pulse, and from which they are. */
export const LEAST_PERIODIC: f64 = 0.3;
export const ENOUGH_PERIODIC: f64 = 0.6;
/** The same for their skewness, and how far that alone is trusted. */
export const LEAST_SKEW: f64 = 0.7;
export const ENOUGH_SKEW: f64 = 1;
export const SKEW_SHARE: f64 = 0.7;
/** Share of the confidence that remains if the channels agree about a signal other than a pulse. */
export const LEAST_PULSATILITY: f64 = 0.2;
