/** Tuning of the heart rate from optical channels. */

// ---- window.ts ----
/** Part of an optical channel's range that is near its extremes. */
export const CLIP_RANGE: f32 = 0.02;
/** Below 40 % of the window there are fewer than three beats at 60 bpm. */
export const LEAST_HELD: i32 = 102;

// ---- spectrum.ts ----
/** Weight of the accelerometer's lines against the pulse's, both scaled to a maximum of one. */
export const NOISE_GAIN: f32 = 6;
/** Standard deviation of the acceleration, in g, from which the wrist counts as moving: ten times a wrist at rest. */
export const MOTION_G: f64 = 0.03;
/** Motion below which the accelerometer has nothing but its own noise to take off. */
export const STILL_MOTION: f32 = 0.01;
/** Share of the last step's spectra in the filter (not in what it filters): 1 s of memory. */
export const SPECTRUM_MEMORY: f32 = 0.5;

// ---- motion.ts ----
/**
 * Added to the powers of optical channels and axes (mean one) before the logarithm: what noise leaves between lines. The weights are
 * fitted with them.
 */
export const OPTICAL_FLOOR: f32 = 0.02;
export const AXES_FLOOR: f32 = 0.05;
/** Level where nothing is known; the weights are fitted with it. */
export const PAST_LEVEL: f32 = -1.5;
/** Slope of a rectifier below zero. */
export const LEAK: f32 = 0.1;
/** Hidden units; 16 do as well as 8. */
export const HIDDEN: i32 = 8;
/**
 * Power to which the likelihood is taken, as a window shares most of its data with the one a second before: under a Hann
 * window of 8 s about 2.7 s bring something new. Chosen between 0.2 and 1, where the bench's mean error changes by a tenth.
 */
export const MOTION_TEMPER: f32 = 0.4;

// ---- tracker.ts ----
/** Decay of the change of rate in one second, bpm: 8 s means change by 1 to 3 bpm a second in exercise. */
export const RATE_CHANGE: f64 = 2;
/** Probability per step that the track is lost and starts anew. */
export const TRACK_LOST: f32 = 1e-4;
/** What any rate's likelihood keeps in a bin without power. */
export const LIKELIHOOD_FLOOR: f32 = 0.05;
/** Rates are centred on 75 bpm at rest (adults: 50 to 100); only at rest, as exercise says nothing of the kind. */
export const USUAL_RATE: f64 = 75;
/** Strongest bin is looked for up to here: 4.4 Hz. */
export const LAST_PULSE_BIN: i32 = 70;
/** Half width of what counts as one rate: the 5 bpm of the confidence's definition. */
export const NEAR_RATE: i32 = 5;

// ---- beats.ts ----
/** Width of the Gaussian, in periods: passes the pulse's fundamental, and a fifth as much of its second harmonic. */
export const SLOPE_WIDTH: f32 = 0.21;
/** Half width of the smoothing kernel, in deviations of the Gaussian. */
export const SLOPE_REACH: f32 = 2.5;
/** Shortest and longest interval that counts, in periods; of two beats that are closer, the steeper one stays. */
export const SHORTEST_INTERVAL: f32 = 0.6;
export const LONGEST_INTERVAL: f32 = 1.6;
/** Added to the spread before it becomes a weight: the timing error of a perfect optical channel on this grid. */
export const LEAST_SPREAD: f32 = 0.02;
/** Smallest slope of a beat, against the window's steepest: where data are missing only rounding errors have slopes. */
export const LEAST_SLOPE: f32 = 0.05;
/**
 * Deviation of the Gaussian, in grid samples, from which slopes lie two grid samples apart: then it passes nothing near
 * their Nyquist frequency of 8 Hz (1e-8 of it), and of the noise about 14 Hz, which falls on the pulse, a pair's sum leaves
 * a fifth.
 */
export const WIDE_SLOPE: f32 = 4;

// ---- confidence.ts ----
/** Weights of the log odds. Without any evidence: */
export const BIAS: f32 = -2.85;
/** Log odds of the track. */
export const OF_BELIEF: f32 = 0.74;
/**
 * The same in motion, with a share of the likelihood of late that is enough, and the weight of the logarithm of what lacks.
 * Chosen on people left out of the network's fit: at three quarters of OF_MOVING_BELIEF troika's calibration error is 0.11 for
 * 0.05; without OF_SUPPORT ten times as much of the bench is wrong but trusted, at 1.5 times the trust falls by a tenth.
 */
export const MOVING_BIAS: f32 = -2.5;
export const OF_MOVING_BELIEF: f32 = 1.8;
export const ENOUGH_SUPPORT: f32 = 0.67;
export const OF_SUPPORT: f32 = 2;
/** Logarithm of the share of the pulse's power in the rate and its double. */
export const OF_CONCENTRATION: f32 = 1.02;
/** Logarithm of how unlike the beats are. */
export const OF_UNLIKENESS: f32 = -1.99;
/** Distance from the running mean, tens of bpm. */
export const OF_UNREST: f32 = -0.4;
/** Logarithm of how far the line is apart from motion; set, not fitted: in the recordings the track holds there. */
export const OF_COLLISION: f32 = 0.5;
/** Half width of a line, bpm: half the main lobe. */
export const LINE_WIDTH: f32 = 7;
/**
 * Least part of an optical channel's standard deviation that its swings must be, most of its power that its steps may be,
 * most of its grid samples that may be like the one before, and how even its steps must be at least. In the recordings
 * swings are above 0.2, steps below 0.3 and evenness above 0.2, save where a finger settles.
 */
export const LEAST_SWING: f32 = 0.05;
export const MOST_JUMP: f32 = 1;
export const MOST_STILL: f32 = 0.6;
export const LEAST_EVEN: f32 = 0.1;
/** Share of the window off its extremes up to which an optical channel is not believed, and the one that is enough. */
export const LEAST_FREE: f32 = 0.4;
export const ENOUGH_FREE: f32 = 0.6;
/** Share of the beats below which nothing is believed at rest, and the one that is enough. */
export const LEAST_COVER: f32 = 0.3;
export const ENOUGH_COVER: f32 = 0.7;
/** How far apart from motion the line must have been seen of late, at least and to be beyond doubt: a copy of it has 1/3. */
export const LEAST_APART: f32 = 0.4;
export const ENOUGH_APART: f32 = 0.5;

// ---- heart_rate.ts ----
/** Motion above which the beats in the time domain are not believed alone. */
export const MOVING: f32 = 0.5;
/** Furthest that the beats' rate may lie from the tracked one, bpm: at rest, and in motion. */
export const REST_REACH: f32 = 12;
export const MOTION_REACH: f32 = 7;
/** Furthest that a spectral line may lie from the tracked rate, bpm: half the main lobe. */
export const LINE_REACH: f32 = 7;
/**
 * Share of the value before in that at rest: with it the window tapers off over some 10 s, as monitors' do, and a beat
 * that comes in or falls out moves the value less.
 */
export const VALUE_MEMORY: f32 = 0.5;
/** Share of a step in how far apart from motion the line was of late: a clearer step counts at once, and for 20 s. */
export const CLEARER: f32 = 0.5;
export const LESS_CLEAR: f32 = 0.05;
/**
 * The same where the rate leaps, by its distance from its running mean in tens of bpm: what was seen of another rate says little.
 * Chosen on people left out: with it half as much of maxwrist is wrong but trusted; half of it does nearly as well, twice costs trust.
 */
export const RESTLESS: f32 = 0.2;
/** Share of a step's rate in its running mean: 5 s of memory. */
export const SLOW_SHARE: f32 = 0.2;
/** Share of this window in the support: 10 s of memory. */
export const SUPPORT_SHARE: f32 = 0.1;
