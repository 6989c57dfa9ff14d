/** Tuning of the respiratory rates. */

// ---- modulation.ts ----
/** Fewest beats of a window that make series. */
export const FEWEST_BEATS: i32 = 8;
/** Beats that a series should have left; with fewer, the irregular ones count too. */
export const FEWEST_GOOD: i32 = 6;
/**
 * An interval is regular within 20 % of the median of the seven about it (as for NN intervals in heart rate
 * variability).
 */
export const REGULAR: f32 = 0.2;
/** Share of regular beats above which the series carry wholly, as its inverse: two of three. */
export const STEADY_SHARE: f32 = 1.5;
/** A height is credible within 50 % of their mean. */
export const CREDIBLE: f32 = 0.5;

// ---- drift.ts ----
/** No drift is that polynomial alone: a breath smaller than this part of it cannot be told from the rest. */
export const ROUGHNESS: f32 = 0.05;

// ---- tracker.ts ----
/** Below bin 2 (1.9 per minute) lie trend and window leakage. */
export const LOWEST_BIN: i32 = 2;
/**
 * Exponent of the sinusoid's likelihood for a whole window: half of its independent values less two. Those are the bins in
 * which breath can lie, some twenty, of two values each, of which a breath that varies fills half. Windows overlap, so that
 * each is evidence only in part: the likelihood's eighth root is taken.
 */
export const EXPONENT: f32 = 9;
/** Odds that a series shows breathing of a given rate: three in ten that it shows any, over all rates. */
export const SERIES_ODDS: f32 = 0.3 / 45;
/** The most that a rate can explain, so that no single series decides alone for ever; the harmonic's share. */
export const UNEXPLAINED: f32 = 0.1;
export const HARMONIC: f32 = 0.3;
/** Power that must be at the rate itself for the harmonic to count. */
export const FUNDAMENTAL: f32 = 0.05;
/** Beats are placed and measured to about 0.3 % (3 ms of a second): smaller changes tell of the sampling. */
export const RESOLUTION: f32 = 0.003;
/** Chance that the rate is suddenly any other; silence after which nothing is known, s. */
export const JUMP: f32 = 0.01;
export const FORGET: f64 = 32;
/**
 * Rates at rest: log-normal about 15 per minute, half of a natural logarithm wide, so that 5 and 45 are still
 * possible.
 */
export const USUAL_RATE: f64 = 15;
export const RATE_SPREAD: f64 = 0.5;
/** Mass from which a stretch is right 19 times of 20. */
export const CERTAIN_MASS: f64 = 0.5;
/** Half width of the stretch that is the answer, bins: 2.8 per minute. */
export const HALF_STRETCH: i32 = 3;
/**
 * Bins that show the noise's slope: 2.5 to 6 and 24 to 45 per minute, mostly free of breathing, or of its line's
 * width.
 */
export const LOW_FROM: i32 = 3;
export const LOW_TO: i32 = 6;
export const HIGH_FROM: i32 = 26;
export const HIGH_TO: i32 = 47;
/**
 * Degree of the drift of the beats' series: a heart that calms down, a hand that warms up. It follows one swing in a window
 * and leaves two.
 */
export const BEATS_DRIFT: i32 = 2;
/**
 * Degree of the drift of an effort, taken off likewise: it follows two and a half swings in a window and leaves three, the fewest that
 * show a rhythm, nearly whole.
 */
export const EFFORT_DRIFT: i32 = 5;

// ---- ppg_pulses.ts ----
/** Half widths of the moving averages, grid samples: 0.16 s and 1 s of the band-pass, 0.16 s (systole) and 0.66 s (beat). */
export const SMOOTH_HALF: i32 = 2;
export const DRIFT_HALF: i32 = 16;
export const SYSTOLE_HALF: i32 = 2;
export const BEAT_HALF: i32 = 10;
/** Part of the mean energy that a pulse must stand above the beat's average (Elgendi's offset). */
export const ENERGY_OFFSET: f32 = 0.02;
/** Shortest stretch above, grid samples; longest that is waited for. */
export const SHORTEST_STRETCH: i32 = 3;
export const UNFINISHED: i32 = 64;
/** Two maxima closer than this are one pulse, 0.3 s (200 bpm). */
export const REFRACTORY: i32 = 10;
/** The foot lies at most this far before the peak, 0.75 s. */
export const FOOT_REACH: i32 = 24;

// ---- from_ppg.ts ----
/** Pulses of fewer counts are the converter's own steps, whose beat with the sampling looks like breath. */
export const LEAST_COUNTS: f32 = 4;

// ---- from_ecg.ts ----
/** Beats which are more likely none than one carry no interval. */
export const BELIEVED: f32 = 0.5;

// ---- from_effort.ts ----
/** Least part of the window that must be there: 12 s. */
export const ENOUGH_SAMPLES: i32 = 384;
