/** Tuning of the heart rate from optical channels, a namespace a step. The brackets are explained in CONTRIBUTING.md. */

import { MOST_OF_LEVEL } from '../grid/tuning';

/** window.ts */
export namespace LOADING {
  /** Minimum number of values in the window. [grid samples; derived: three beats at 60 bpm] */
  export const LEAST_HELD: i32 = 96;
  /** Standard deviation of a constant channel at most, relative to its distance from its first value. [ratio; derived: 25 roundings of f32] */
  export const ROUNDING: f32 = 3e-6;
  /** Standard deviation of the light, relative to its level, above which it has lost its constant part: exercising wrists reach 0.013. [ratio; derived: a sine that fills MOST_OF_LEVEL] */
  export const MOST_SWING: f32 = <f32>(MOST_OF_LEVEL * 0.35355);
  /** Standard deviation of the acceleration above which the wrist counts as moving: ten times a wrist at rest. [g; fitted: npm run fit -- --constants] */
  export const MOTION_G: f64 = 0.03;
}

/** spectrum.ts: the accelerometer's lines, and how the pulse is separated from them */
export namespace SPECTRUM {
  /** Motion above which the beats in the time domain are not believed alone. [share; derived: that of a wrist with the deviation MOTION_G] */
  export const MOVING: f32 = 0.5;
  /** Share of the last step's spectra in the filter (not in what it filters): 1 s of memory. [share; fitted: npm run fit -- --constants] */
  export const MEMORY: f32 = 0.5;
  /** Strongest bin of an axis against its mean above which it is a line. [ratio; derived: white noise has 6.0 at most in 95 of 100 windows] */
  export const LINE: f32 = 6;
  /** Power of a swing's second harmonic in the light, against that of the swing. Chosen on people left out. [ratio; fitted: npm run fit -- --constants] */
  export const SWING_HARMONIC: f32 = 0.5;
  /**
   * Motion above which a line of the accelerometer doubts that of the light in full, 0.01 g: what a hand on a handlebar or a chewing
   * head hardly feels may move the light more than the pulse does. The pulse itself shakes a resting wrist by less. [share; chosen]
   */
  export const FELT_MOTION: f32 = 0.1;
  /** Rate below which a line may be a swing's second harmonic: swings of 45 a minute and more are mostly of steps, whose double the axes have, too. [bpm; derived: double of 45] */
  export const SWING_DOUBLE: f32 = 90;
}

/** residual.ts */
export namespace RESIDUAL {
  /** Share of the earlier windows in the products of the spectra: 10 s of memory. [share; fitted: npm run fit -- --constants] */
  export const MEMORY: f32 = 0.9;
  /** Power added to the residual of each bin, as a share of the mean power before: weaker lines may be leftovers of the motion. [share; chosen] */
  export const LEAST_LEFT: f32 = 0.005;
}

/** candidates.ts: the likelihood of a rate in motion */
export namespace CANDIDATE {
  /** Added to powers (mean one) before the logarithm: what noise leaves between lines. [ratio; fitted: npm run fit -- --constants] */
  export const FLOOR: f32 = 0.025;
  /** Level where nothing is known; the weights are fitted with it. [log power; fitted: npm run fit -- --constants] */
  export const PAST_LEVEL: f32 = -1.5;
  /** Slope of a rectifier below zero. [ratio; derived: that with which the weights are fitted (lab/python/network.py)] */
  export const LEAK: f32 = 0.1;
  /** Hidden units: on people left out 16 do better than 8, and 24 little better than 16. [units; derived: the rows of motion_weights.ts] */
  export const HIDDEN: i32 = 16;
  /**
   * Power to which the likelihood is taken, as a window shares most of its data with the one a second before. [exponent; derived: under a Hann
   * window of 8 s 2.5 s bring something new]
   */
  export const TEMPER: f32 = 0.4;
}

/** tracker.ts */
export namespace TRACK {
  /** Decay of the change of rate in one second: 8 s means change by 1 to 3 bpm a second in exercise. [bpm; fitted: npm run fit -- --constants] */
  export const RATE_CHANGE: f64 = 2;
  /** The same for a rise at the onset of exercise, for as long as a window and the rest before it. [bpm; derived: twice RATE_CHANGE] */
  export const ONSET_CHANGE: f64 = 2 * RATE_CHANGE;
  /** Chance in a step that the track is lost and starts anew, so that no belief is surer than the rest of it. [probability; derived: the highest belief that counts, 0.999] */
  export const LOST: f32 = 1e-3;
  /** What any rate's likelihood keeps in a bin without power. [ratio; fitted: npm run fit -- --constants] */
  export const LIKELIHOOD_FLOOR: f32 = 0.05;
  /** Middle of the rates at rest, above which a rate is the less likely; only at rest, as exercise says nothing of the kind. [bpm; derived: adults have 50 to 100] */
  export const USUAL_RATE: f64 = 75;
  /** Half width of what counts as one rate. [bpm; derived: the tolerance of a heart rate] */
  export const NEAR_RATE: i32 = 5;
}

/** beats.ts */
export namespace BEAT {
  /** Width of the Gaussian: passes the pulse's fundamental, and a fifth as much of its second harmonic. [periods; fitted: npm run fit -- --constants] */
  export const SLOPE_WIDTH: f32 = 0.21;
  /** Half width of the smoothing kernel, in deviations of the Gaussian. [deviations; derived: from there on it is below a fifth of its height] */
  export const SLOPE_REACH: f32 = 2.5;
  /** Minimum interval that counts; of two beats that are closer, the steeper one stays. [periods; fitted: npm run fit -- --constants] */
  export const SHORTEST_INTERVAL: f32 = 0.6;
  /** Maximum interval that counts: with a beat missed it has the shortest one beside a period. [periods; derived: SHORTEST_INTERVAL] */
  export const LONGEST_INTERVAL: f32 = 1 + SHORTEST_INTERVAL;
  /** Added to the spread before it becomes a weight: a grid sample's rounding, 1 / sqrt(12) of it, in an interval of 1 s. [ratio; derived: the grid of 32 Hz] */
  export const LEAST_SPREAD: f32 = 0.009;
  /**
   * Deviation of the Gaussian above which slopes lie two grid samples apart: then it passes nothing near their Nyquist
   * frequency of 8 Hz (1e-8 of it), and of the noise about 14 Hz, which falls on the pulse, a pair's sum leaves a fifth.
   * [grid samples; derived: the Nyquist frequency]
   */
  export const WIDE_SLOPE: f32 = 4;
}

/** count.ts */
export namespace COUNT {
  /** Deviation of the Gaussian whose derivative finds upstrokes: 62 ms, half of one. [grid samples; fitted: npm run fit -- --constants] */
  export const WIDTH: f32 = 2;
  /** Minimum slope of a clear upstroke, against the usual one. [ratio; chosen] */
  export const CLEAR: f32 = 0.25;
  /** Two upstrokes that are closer are one, unless the tracked rate has shorter intervals. [grid samples; derived: the period of 220 bpm less 6 %] */
  export const CLOSEST: f32 = 8.2;
  /** Until then a pulse's second wave may come; an upstroke that comes later is a beat: 0.48 s. [grid samples; fitted: npm run fit -- --constants] */
  export const LATEST_DICROTIC: f32 = 15.4;
  /** Slope against that of a full beat below which an upstroke is a second wave, or that of a premature beat. [ratio; fitted: npm run fit -- --constants] */
  export const DICROTIC_SHARE: f32 = 0.5;
  /** Minimum interval that is a pause. [intervals; fitted: npm run fit -- --constants] */
  export const LONG: f32 = 1.35;
  /** Interval up to which a beat is early, so that the pause after it is its own: that is at least so much of the interval before. [intervals; fitted: npm run fit -- --constants] */
  export const EARLY: f32 = 0.85;
  /** Minimum slope of a weak upstroke, relative to the usual one. [ratio; fitted: npm run fit -- --constants] */
  export const WEAK: f32 = 0.07;
  /** Maximum number of them in a trusted reading: each is 7.5 bpm of the rate. [beats; fitted: npm run fit -- --constants] */
  export const MOST_GUESSED: i32 = 1;
  /** Maximum time without a beat at an end of the window of a trusted reading. [intervals; derived: one, and the beats of 8 s that are 10 bpm, twice the tolerance] */
  export const LONGEST_EDGE: f32 = 2.33;
  /** Minimum slope of an upstroke that is not weak, in the search for runs of weak ones, against the usual one. [ratio; chosen] */
  export const STRONG: f32 = 0.5;
  /** Intervals in a row that make a run of fast beats. [intervals; cited: three premature beats or more are a run (Buxton et al., Circulation 114:2534, 2006)] */
  export const RUN: i32 = 3;
}

/** heart_rate.ts: the value */
export namespace RATE {
  /** Weight of the clarity of the counted beats, and of signs that a rate misses beats, against what track, likelihood and spectrum say for either rate. [log odds; fitted: npm run fit -- --constants] */
  export const OF_COUNT: f32 = 12;
  /** Maximum change of the rate from window to window at rest. [bpm; derived: a beat more or less in a window of 8 s is 7.5 bpm] */
  export const MOST_CHANGE: f32 = 10;
  /** Windows that a rate must hold after a larger change: one of the two was wrong, or a rhythm that is none goes on changing. [windows; fitted: npm run fit -- --constants] */
  export const SETTLED: i32 = 3;
  /** Half width of a spectral line, and how far it may lie from the rate. [bpm; derived: a quarter of the main lobe] */
  export const LINE_REACH: f32 = 7.5;
  /** Difference up to which two rates are taken together. [bpm; derived: the tolerance of a heart rate] */
  export const ALIKE: f32 = 5;
  /** Variation of the intervals above which the count alone is taken: there is no line in an irregular rhythm. [ratio; chosen] */
  export const IRREGULAR: f32 = 0.12;
  /**
   * Share of the value before in that at rest, where the beats' timing is not sharp: then the window tapers off over some 10 s,
   * as monitors' do, and a beat that comes in or falls out moves the value less. [share; fitted: npm run fit -- --constants]
   */
  export const VALUE_MEMORY: f32 = 0.5;
  /** Weight of a step in the remembered rate: a minute. [share; fitted: npm run fit -- --constants] */
  export const LESS_CLEAR: f32 = 0.015;
  /**
   * The same where the rate leaps, by the square of its distance from its running mean in tens of bpm: what was seen of another
   * rate says nothing of this one. Chosen on people left out. [share; fitted: npm run fit -- --constants]
   */
  export const RESTLESS: f32 = 0.6;
  /** Share of a step's rate in its running mean: 5 s of memory. [share; fitted: npm run fit -- --constants] */
  export const SLOW_SHARE: f32 = 0.2;
  /** Share of this window in the support where that rises. [share; derived: RESIDUAL.MEMORY, 10 s] */
  export const SUPPORT_RISE: f32 = 1 - RESIDUAL.MEMORY;
  /** Rise of the expected rate for each g of acceleration (standard deviation): 100 bpm walking, more running. [bpm; chosen] */
  export const RATE_PER_G: f32 = 100;
  /** Highest rate that is expected. [bpm; cited: vigorous exercise has 77 to 95 % of the highest rate (ACSM), 146 to 180 if that is 190] */
  export const EXERCISE_RATE: f32 = 160;
  /** Share of a step in the response of the expected rate: a time constant of 30 s. [share; cited: Bunc et al. 1988, 20 to 60 s] */
  export const RESPONSE: f32 = 0.033;
}

/** octave.ts */
export namespace OCTAVE {
  /** Likeness of an upstroke midway between beats to theirs, and strength of the second harmonic against the line, above which each second beat may be weak. [ratio; fitted: npm run fit -- --constants] */
  export const MIDWAY: f32 = 0.75;
  /**
   * Strength of the second harmonic against the line above which each second beat is weak, where their upstrokes are too flat to see; of the recordings
   * above DICROTIC none has more than 0.66. [ratio; derived: that of weak beats of three tenths of the height]
   */
  export const STRONG_SECOND: f32 = 0.9;
  /** Above this rate no second wave is as strong as that; at 83 bpm one person of the recordings has 1.08. [bpm; derived: half of 180 bpm, above which weak upstrokes are too flat] */
  export const DICROTIC: f32 = 90;
  /** Largest difference of two rates, or of two intervals, that count as the same. [share; fitted: npm run fit -- --constants] */
  export const SAME_RATE: f32 = 0.1;
  /**
   * Amplitude of the line at half the rate in step with the rate's, against it, above which it counts. On people left out this takes, in motion, 4 of
   * 5 readings at double the rate, and 1 in 40 that are right. [ratio; fitted: npm run fit -- --constants]
   */
  export const HALF_SEEN: f32 = 0.3;
  /** How far the line is in step with that at half the rate, of 1, above which half the rate may be the pulse's, at rest. [ratio; chosen] */
  export const HALF_IN_STEP: f32 = 0.9;
  /** Power of slopes at the rate that was trusted last, against this one's, above which that line is still there. [ratio; fitted: npm run fit -- --constants] */
  export const OLD_LINE_SEEN: f32 = 0.2;
  /** Seconds without a trusted rate after which the last one is forgotten; and after a run of weak pulses until no further one is expected. [s; chosen] */
  export const OLD_SECONDS: f32 = 240;
}

/** confidence.ts: the waveforms by themselves */
export namespace QUALITY {
  /** Minimum part of an optical channel's standard deviation that its swings must be; in the recordings above 0.2. [ratio; chosen] */
  export const LEAST_SWING: f32 = 0.05;
  /** Maximum of the power of its steps, in parts of its power, at rest. [ratio; derived: that of white noise; a clear pulse of 220 bpm in noise has up to 1.16] */
  export const WHITE_JUMP: f32 = 2;
  /** The same in motion, where only the grid's filter tells noise from a pulse: of noise it leaves 1.2 and more; in the recordings below 0.3. [ratio; chosen] */
  export const MOST_JUMP: f32 = 1.1;
  /** Share of its grid samples that are like the one before, or at its extremes, above which an optical channel is not believed. [share; chosen] */
  export const MOST_STILL: f32 = 0.59;
  /** Minimum confidence of a window that counts as holding a pulse, even if its rate is doubtful. [probability; derived: half of TRUSTED] */
  export const LEAST_LIKELY: f64 = 0.25;
}

/** confidence.ts: in motion */
export namespace MOTION {
  /** Share of the likelihood of late that is enough, in motion. [share; fitted: npm run fit -- --constants] */
  export const ENOUGH_SUPPORT: f32 = 0.59;
  /** Confidence above which a rate in motion is trusted: the same evidence is wrong more often in some kinds of motion than in others. [probability; fitted: npm run fit -- --constants] */
  export const LEAST_TRUSTED: f32 = 0.79;
  /**
   * Share of a line that the axes do not explain below which it is the motion's. Chosen on people left out: of their readings that are
   * right and trusted 1 in 200 has less than 0.14. [share; fitted: npm run fit -- --constants]
   */
  export const LEAST_UNEXPLAINED: f32 = 0.1;
  /** How far apart from motion the line must have been seen of late: a copy of it has 1/3. [share; fitted: npm run fit -- --constants] */
  export const LEAST_APART: f32 = 0.364;
}

/** confidence.ts: at rest */
export namespace REST {
  /** Clarity of the counted beats above which another rate is not trusted. [ratio; fitted: npm run fit -- --constants] */
  export const CLEAR: f32 = 0.5;
  /** Added to shares before their logarithm. [share; fitted: npm run fit -- --constants] */
  export const LEAST_SHARE: f32 = 0.04;
  /** Interval above which every beat has a pulse: that of the fastest usual rate at rest. [s; derived: adults have 50 to 100 bpm] */
  export const USUAL_SHORTEST: f32 = 0.6;
  /** Maximum variation of the intervals of an even rhythm, and of those over two beats in bigeminy. [ratio; derived: half of what is irregular] */
  export const STEADY_PAIRS: f32 = 0.5 * RATE.IRREGULAR;
  /** Minimum likeness of their upstrokes. [correlation; fitted: npm run fit -- --constants] */
  export const RUN_LIKENESS: f32 = 0.85;
  /** Share of the intervals with a weak upstroke at the same delay above which they are premature beats. [share; chosen] */
  export const FOLLOWED: f32 = 0.6;
}

/** artefact.ts */
export namespace ARTEFACT {
  /** Log odds that the light shows a movement, without evidence: logistic regression on features of the confidence at rest. [log odds; fitted: the sets of ACCURACY.md at rest against those in motion without their accelerometer] */
  export const BIAS: f32 = -3.444;
  /** Weight of the slopes' skewness, at most one. [weight; fitted: the sets of ACCURACY.md at rest against those in motion without their accelerometer] */
  export const OF_SKEW: f32 = -2.087;
  /** Weight of the line's growth. [weight; fitted: the sets of ACCURACY.md at rest against those in motion without their accelerometer] */
  export const OF_GROWTH: f32 = 2.844;
  /** Weight of an unusual rate. [weight; fitted: the sets of ACCURACY.md at rest against those in motion without their accelerometer] */
  export const OF_UNUSUAL: f32 = 0.636;
  /** Weight of the likelihood's share at the rate, of late. [weight; fitted: the sets of ACCURACY.md at rest against those in motion without their accelerometer] */
  export const OF_SUPPORT: f32 = -2.732;
  /** Weight of the concentration of the power. [weight; fitted: the sets of ACCURACY.md at rest against those in motion without their accelerometer] */
  export const OF_FOCUS: f32 = -0.664;
  /** Weight of the intervals' variation. [weight; fitted: the sets of ACCURACY.md at rest against those in motion without their accelerometer] */
  export const OF_VARIATION: f32 = 6.813;
  /** Weight of the upstrokes' unlikeness. [weight; fitted: the sets of ACCURACY.md at rest against those in motion without their accelerometer] */
  export const OF_UNLIKENESS: f32 = 0.566;
  /** Weight of the margin between what is a beat and what is not. [weight; fitted: the sets of ACCURACY.md at rest against those in motion without their accelerometer] */
  export const OF_MARGIN: f32 = 0.221;
  /** Log odds up to which the light is a pulse's: 0.6 % of the readings in motion without an accelerometer are wrong but trusted. [log odds; fitted: npm run fit -- --constants] */
  export const MOST_ODDS: f32 = -1.45;
  /** Ratio of red to infrared above which it may be a movement's, as well as that of a pulse of an SpO2 below 85 %. [ratio; chosen] */
  export const MOVEMENT_RATIO: f32 = 0.77;
  /** Change of the rate up to which it still is that of the last trusted pulse, which may have lost oxygen since. [bpm; chosen] */
  export const GOES_ON: f32 = 1;
  /** Power of the second harmonic, against that of the rate, of which a sine in noise of a twelfth of its amplitude has half. [ratio; fitted: npm run fit -- --constants] */
  export const SECOND: f32 = 0.0024;
  /** Rate up to which its second harmonic can be seen: what is above 5 Hz, a wearable may have filtered off. [bpm; derived: half of 5 Hz] */
  export const SECOND_SEEN: f32 = 150;
  /** Minimum share of the window that has values for its height to count. [share; derived: the newest 0.8 s may be on their way] */
  export const WHOLE: f32 = 0.9;
  /** Rate that is unusually fast at rest. [bpm; fitted: npm run fit -- --constants] */
  export const FAST_REST: f32 = 115;
}

/** flicker.ts */
export namespace FLICKER {
  /** Advances of the phase, each over a window's length, by which a line is steady: 20 s of data. [windows; derived: PHASES less a window's length] */
  export const ADVANCES: i32 = 12;
  /** Likeness of the advances above which a rate does not wander: of the recordings' trusted readings 1 in 12 has more, and those have a second harmonic. [ratio; fitted: npm run fit -- --constants] */
  export const STEADY: f32 = 0.968;
  /** Amplitude of the second harmonic in step, against the line's, above which there is one. [ratio; fitted: npm run fit -- --constants] */
  export const IN_STEP: f32 = 0.105;
  /** Half width of a line, down to nothing. [bpm; derived: the Hann window of 8 s] */
  export const LOBE: f32 = 15;
  /** Share of the pulse's power off the line above which something is beside it at rest: more than the noise of a test. [share; chosen] */
  export const LITTLE_ELSE: f32 = 0.038;
}
