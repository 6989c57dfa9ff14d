/** Tuning of the R peaks and of the heart rate from them. */

// ---- levels.ts ----
/** Both levels follow within about 8 beats, as in Hamilton & Tompkins 1986; noise rises faster, as it comes suddenly. */
export const LEVEL_FOLLOW: f32 = 0.125;
export const NOISE_RISE: f32 = 0.4;
/** Noise is never thought closer to the beats: a feature that says nothing now must be able to say so later. */
export const CLOSEST_NOISE: f32 = 0.55;
/** Noise below 5 % of the beats says no more. */
export const FARTHEST_NOISE: f32 = 0.05;

// ---- evidence.ts ----
/** A peak of the evidence is the greatest within 78 ms on both sides. */
export const GUARD: i32 = 10;
/** The least evidence that makes a candidate. */
export const LEAST_EVIDENCE: f32 = -20;
/** Bounds of where between noise (0) and beats (1) a feature is. */
export const LOWEST_POSITION: f32 = -0.5;
export const FARTHEST_POSITION: f32 = 1.6;
/** Bounds of the steepness of the log odds. */
export const LEAST_STEEPNESS: f32 = 3;
export const MOST_STEEPNESS: f32 = 40;
/** Evidence of one beat is bounded above two surprises, so that clear beats correct a wrong expectation of the period. */
export const MOST_EVIDENCE: f32 = 10;
/**
 * A beat by its breadth alone, where breadth tells beats from T waves and energy says that there is little noise
 * (electrode motion is broad, too). Its evidence is bounded below two surprises, so that none is put between two beats
 * of a regular rhythm.
 */
export const WIDE_RATIO: f32 = 2.5;
export const CLEAR_RATIO: f32 = 2.5;
export const WIDE_EVIDENCE: f32 = 5;

// ---- beat_path.ts ----
/** RR intervals on a path, seconds: 250 bpm; longer than LONGEST_RR it is a new beginning. */
export const SHORTEST_RR: f32 = 0.24;
/** Until then what is broad may be the T wave of the beat before (Pan & Tompkins 1985). */
export const SHORTEST_WIDE_RR: f32 = 0.36;
export const LONGEST_RR: f32 = 2.6;
/** Surprise of an interval r times the period: 20 (ln r)^2 (10 % of heart rate variability costs 0.2), at most 4. */
export const STEADINESS: f32 = 20;
export const MOST_SURPRISE: f32 = 4;
/** The expected period: at first 75 bpm, then within these limits. */
export const FIRST_PERIOD: f32 = 0.8;
export const SHORTEST_PERIOD: f32 = 0.28;
export const LONGEST_PERIOD: f32 = 1.6;
export const PERIOD_FOLLOW: f32 = 0.2;
/** Least and greatest interval that the period follows, in periods. */
export const LEAST_CHANGE: f32 = 0.6;
export const MOST_CHANGE: f32 = 1.65;

// ---- beat_measure.ts ----
/** Farthest that a lead's peak may lie from the candidate, grid samples: 47 ms, and without a template a little farther. */
export const SNAP: i32 = 6;
export const FIRST_SNAP: i32 = 8;
/** Samples this close to a beat (188 ms, or 30 % of the interval) are excluded from the noise estimate. Grid samples. */
export const DEAD_SAMPLES: i32 = 24;
/** Longer intervals are pauses or missed beats and tell nothing of the noise between beats; grid samples. */
export const PAUSE_SAMPLES: i32 = 384;
/** Share of its norm that a beat must have along the template to be learnt. */
export const LIKE_TEMPLATE: f32 = 0.8;
/** More unlike beats in a row than these, on a clear lead, are a new normal. */
export const STRANGE_BEATS: i32 = 10;
export const SLOWEST_LEARNING: f32 = 0.1;
/** Beats that make a template. */
export const TEMPLATE_BEATS: i32 = 3;
/** Separation of the energy from which a lead is clear. */
export const CLEAR_LEAD: f32 = 4;
/** How many times as much as the chosen lead another one must tell to be chosen. */
export const BETTER_LEAD: f32 = 4;
/** Noise of the match before it is known, in parts of the first match. */
export const FIRST_MATCH_NOISE: f32 = 0.3;
/** Share of a beat in the running means of fit and shift: about 5 beats. */
export const MEASURE_FOLLOW: f32 = 0.2;
/** A lead is back at its level this long after its R peak (90 ms), most of the way at least; a stair or a drift is not. */
export const SHIFT_HALF: i32 = 12;

// ---- r_peaks.ts ----
/** A beat is decided by the first block that ends at least 0.375 s after it, and so within 0.5 s. */
export const DECIDE_AGE: i32 = 48;
export const DECIDE_LATEST: i32 = 64;
/** Levels are learnt from 2 s (Pan & Tompkins 1985), and again where for 3 s no beat was found. */
export const LEARN_SAMPLES: i32 = 256;
export const SEARCH_SAMPLES: i32 = 384;
/** Size of a beat in parts of the greatest feature, when the levels are learnt. */
export const FIRST_BEAT_SHARE: f32 = 0.8;
/** After 10 s without data the electrodes may be elsewhere: everything is learnt anew. */
export const LOST_SAMPLES: i32 = 1280;
/** A peak is clear before its guard time is over by evidence past any ectopic one's, and a fall after it. */
export const CLEAR_EVIDENCE: f32 = 6;
export const CLEAR_SAMPLES: i32 = 2;

// ---- rhythm.ts ----
/** Longest interval that can be one beat to the next, seconds. */
export const LONGEST_INTERVAL: f64 = 3;
/**
 * Weight of surprise against a beat, and for it: noise, too, finds a peak where one is expected. A part of the surprise
 * against a beat is free: the pause after an ectopic beat does not make it a wrong one.
 */
export const WEIGHT_AGAINST: f64 = 2.5;
export const FREE_SURPRISE: f64 = 2.0;
export const WEIGHT_FOR: f64 = 0.2;
/**
 * Variation of the newest intervals up to which they are a rhythm, and from which they are none. Atrial fibrillation has
 * about 0.25, every second beat an early one 0.4; spikes at random times have 0.7 to 1.
 */
export const IRREGULAR: f64 = 0.45;
export const RANDOM: f64 = 0.65;
/** Newest intervals that tell one from the other. */
export const TELLING_INTERVALS: i32 = 20;

// ---- heart_rate.ts ----
/** Shift of the level from which beats are stairs; up to 0.2 less they may be beats. */
export const MOST_SHIFT: f64 = 0.8;
/** Fit of the beats to their template that is as likely an ECG's as not, and the width of that transition. */
export const USUAL_FIT: f64 = 0.79;
export const FIT_WIDTH: f64 = 0.025;
/** Longest that a decision takes, seconds. */
export const DECIDE_SECONDS: f64 = 0.5;
/** Closest that a peak may follow another, grid samples (0.24 s). */
export const CLOSEST_PEAK: i32 = 31;
/** Least size of a QRS complex, in parts of the level under it, and of the offset that was taken off before. */
export const LEAST_OF_LEVEL: f64 = 1e-4;
export const LEAST_OF_OFFSET: f64 = 4e-7;
/** Odds against a beat whose morphology is clear: exp(-10), the most that evidence tells (evidence.ts). */
export const CLEAR_ODDS: f64 = 4.5e-5;
