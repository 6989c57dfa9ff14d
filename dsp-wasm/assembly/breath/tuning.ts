/** Tuning of the respiratory rates, by step. The brackets are explained in CONTRIBUTING.md. */

/** Of beats.ts, modulation.ts. */
export namespace BEAT {
  /** Minimum number of beats in a series. [beats; derived: half a window at 30 bpm] */
  export const FEWEST: i32 = 8;
  /** How far a regular interval may be from the median of the seven about it: as for NN intervals in heart rate variability. [ratio; cited: Malik et al., Eur. Heart J. 10:1060, 1989] */
  export const REGULAR: f32 = 0.2;
  /** Share of clean beats up to which they are noise. [share; derived: nine of ten windows of made noise have less] */
  export const NONE: f32 = 0.35;
  /** Share of clean beats above which they are true. [share; fitted: npm run fit -- --constants] */
  export const TRUE: f32 = 0.55;
  /**
   * Maximum interval of beats that tell a breath, 40 bpm: they sample it, and one faster than half of their rate looks like a slower one. Up to 20 a
   * minute are usual at rest. [s; fitted: npm run fit -- --constants]
   */
  export const LONGEST_SAMPLING: f32 = 1.5;
  /** Minimum number of cycles of irregular beats in a window that can be told from chance. [intervals; derived: of three pairs of five lengths, two are alike by chance in one of ten] */
  export const FEWEST_CYCLES: i32 = 4;
  /** Maximum number of beats of such a cycle; a deep breath may make one beat irregular, too, but it is longer. [beats; fitted: npm run fit -- --constants] */
  export const LONGEST_CYCLE: i32 = 6;
  /** Part of a pattern's power at its own length, above which it is a breath: a sinusoid has all of it, one weak beat of four 2 / 3. [share; derived: the middle of these] */
  export const ROUND: f32 = 0.83333;
  /** Share of the variance above which a pattern counts. [share; derived: more than all else] */
  export const REPEATED: f32 = 0.5;
}

/** Of ppg_pulses.ts. */
export namespace PULSE {
  /** Half width of the averages over a systole: of the band-pass's short one, and of the energy. [grid samples; cited: Elgendi et al. 2013, 0.11 s] */
  export const SMOOTH_HALF: i32 = 2;
  /** Half width of the band-pass's long moving average, 1 s. [grid samples; cited: Elgendi et al. 2013, from 0.5 Hz] */
  export const DRIFT_HALF: i32 = 16;
  /** Half width of the average over a beat, 0.66 s. [grid samples; cited: Elgendi et al. 2013] */
  export const BEAT_HALF: i32 = 10;
  /** Part of the mean energy that a pulse must stand above the beat's average. [ratio; cited: Elgendi et al. 2013] */
  export const ENERGY_OFFSET: f32 = 0.02;
  /** Minimum length of a stretch above. [grid samples; cited: Elgendi et al. 2013, a systole] */
  export const SHORTEST_STRETCH: i32 = 3;
  /** Two maxima closer than this are one pulse. [grid samples; derived: the range of hr-ppg] */
  export const REFRACTORY: i32 = 8;
  /** The foot, and another maximum of the same pulse, lie at most this far before the peak. [grid samples; derived: BEAT.LONGEST_SAMPLING] */
  export const FOOT_REACH: i32 = 48;
  /** Part of a pulse's height below which a valley is within a pulse: before its second wave. [ratio; fitted: npm run fit -- --constants] */
  export const SHALLOW: f32 = 0.4;
}

/** Of from_ppg.ts. */
export namespace LIGHT {
  /** Largest error of what a converter rounds, which for even pulses is the same again and again. [counts; derived: half a step] */
  export const ROUNDED: f32 = 0.5;
  /** Length of the short moving average, over which rounding averages out. [s; derived: SMOOTH_HALF] */
  export const SMOOTH_SECONDS: f64 = 0.15625;
  /** Sharpness of pulses up to which the polynomial through five grid samples follows them; those of twice that are sharper than the grid. [ratio; fitted: npm run fit -- --constants] */
  export const SHARP: f32 = 0.2;
  /** Part of the window that passes from one step to the next: 2 s of 32 s. [share; derived: rr-ppg's window and step] */
  export const PASSED: f32 = 0.0625;
  /** Pulses are placed and measured to about this part of an interval or a height: smaller changes tell of the sampling. [ratio; chosen] */
  export const RESOLUTION: f32 = 0.0025;
  /** Deviation of beats from even steps up to which they are in step with the samples. [periods; derived: even beats on whole periods deviate by half of one at most] */
  export const IN_STEP: f32 = 0.5;
}

/** Of from_ecg.ts. */
export namespace ECG {
  /** Beats which are more likely none than one carry no interval. [probability; derived: more likely than not] */
  export const BELIEVED: f32 = 0.5;
  /** Stretch whose mean is a beat's baseline. [s; derived: BASELINE_SAMPLES of ecg] */
  export const BASELINE_SECONDS: f32 = 0.6875;
  /** Beats of an ECG are placed and measured to about this (1 ms of a second). [ratio; cited: Task Force of ESC and NASPE 1996, half a period of 500 Hz] */
  export const RESOLUTION: f32 = 0.001;
  /** Deviation of beats from even steps up to which they are in step with the samples. [periods; derived: leaves a tenth of their beat, exp(-2 (pi / 3)^2)] */
  export const IN_STEP: f32 = 0.33333;
}

/** Of spectrum.ts, and the noise that tracker.ts finds in it. */
export namespace SPECTRUM {
  /** Bins that hold as much as three times the highest one of a line. [bins; derived: the Hann window's width 1.5, twice as many bins] */
  export const LINE_BINS: f32 = 3;
  /** Lowest bin that counts: below lie trend and window leakage. [bins; derived: one cycle in the window] */
  export const LOWEST_BIN: i32 = 2;
  /** No drift is its polynomial alone: a breath smaller than this part of it cannot be told from the rest. [ratio; chosen] */
  export const ROUGHNESS: f32 = 0.05;
  /** Degree of the drift: a heart that calms down, a hand that warms up, a belt that settles. [degree; derived: it follows one cycle in a window and leaves two, those of the slowest breath] */
  export const DRIFT: i32 = 2;
  /**
   * Bin at which the drift shows the noise's slope: the frequency of the power f^-2 that a random walk leaves in polynomials of
   * degree 1 to 2. [bins; derived: mean of d^-2 over the degrees d, each half a cycle in the window]
   */
  export const DRIFT_BIN: f32 = 1.3;
  /** First bin below breathing that shows the noise's slope, 2.8 per minute; the last one is twice that. [bins; fitted: npm run fit -- --constants] */
  export const LOW_FROM: i32 = 3;
  /** Last bin below breathing that shows the noise's slope, 5.6 per minute. [bins; derived: an octave above LOW_FROM] */
  export const LOW_TO: i32 = 6;
  /** First bin above breathing that shows the noise's slope, 22.5 per minute. [bins; derived: three octaves above LOW_FROM] */
  export const HIGH_FROM: i32 = 24;
  /** Last bin above breathing that shows the noise's slope. [bins; derived: an octave above HIGH_FROM] */
  export const HIGH_TO: i32 = 48;
  /** Maximum steepness of the noise, whose power falls as frequency^-steepness. [exponent; chosen] */
  export const STEEPEST: f32 = 3;
  /** The same of an effort. [exponent; derived: a random walk] */
  export const STEEPEST_EFFORT: f32 = 2;
}

/** Of the prior of tracker.ts. */
export namespace PRIOR {
  /** Middle of the rates at rest, which are log-normal: most adults breathe 12 to 20 times a minute. [1/min; fitted: npm run fit -- --constants] */
  export const USUAL_RATE: f64 = 17;
  /** Deviation of their natural logarithm where the breath is only seen in beats: 8 and 33 per minute are unlikely. [log ratio; fitted: npm run fit -- --constants] */
  export const BEATS_SPREAD: f64 = 0.35;
  /** The same where the effort shows the breath itself: 5 and 45 per minute are still possible. [log ratio; fitted: npm run fit -- --constants] */
  export const EFFORT_SPREAD: f64 = 0.5;
}

/** Of the likelihood of tracker.ts. */
export namespace EVIDENCE {
  /**
   * Exponent of the sinusoid's likelihood for a whole window: half of its independent values less two. Those are the bins in
   * which breath can lie, some twenty, of two values each, of which a breath that varies fills half. Windows overlap, so that
   * each is evidence only in part: the likelihood's eighth root is taken. [exponent; chosen]
   */
  export const EXPONENT: f32 = 8;
  /** Odds that a series shows breathing of a given rate: 0.4 over all rates. [odds; chosen] */
  export const SERIES_ODDS: f32 = 0.0043;
  /**
   * Last bin, 7.5 per minute, at which the heart's intervals also swing with the blood pressure, whatever the breath does: the
   * middle of Mayer waves, 0.04 to 0.15 Hz. [bins; cited: Task Force of ESC and NASPE 1996]
   */
  export const PRESSURE_BIN: i32 = 8;
  /** Minimum part of the power that a rate leaves unexplained, so that no single series decides alone for ever. [share; fitted: npm run fit -- --constants] */
  export const UNEXPLAINED: f32 = 0.1;
  /** Part of the power at twice the rate that counts for the rate in series of beats. [share; chosen] */
  export const HARMONIC: f32 = 0.3;
}

/** Of the filter of tracker.ts. */
export namespace MEMORY {
  /** Chance in a step that the rate drifts one bin up, and as much down: 0.66 per minute a step. [probability; derived: the binomial of two halves] */
  export const DRIFT: f32 = 0.25;
  /** Chance that the rate is suddenly any other. [probability; fitted: npm run fit -- --constants] */
  export const JUMP: f32 = 0.0005;
  /** The same where there are no beats, so that the memory is gone after a window. [probability; derived: LIGHT.PASSED] */
  export const LOST: f32 = 0.0625;
  /** Half width of the stretch that is the answer, 2.8 per minute. [bins; derived: the tolerance of the confidence] */
  export const HALF_STRETCH: i32 = 3;
}

/** Of answer.ts. */
export namespace CONFIDENCE {
  /** Minimum probability of a trusted rate. [probability; derived: 3 / 4, as a wrong trusted reading costs as much as three right ones that are not] */
  export const SURE: f32 = 0.75;
}

/** Of swing.ts. */
export namespace SWING {
  /** Minimum share of the energy that counts as not of the breath, so that no single series decides alone. [share; derived: EVIDENCE.UNEXPLAINED] */
  export const LEAST_REST: f32 = 0.1;
  /** Other rates at which the swing is looked for as well, this much slower and faster: the answer lags behind a breath that changes. [1/min; derived: half of the resolution of 16 s] */
  export const NEARBY: f32 = 1.875;
  /** Part of the usual swing below which the breath is doubted: 0.63 of its depth; the confidence is less than half at 0.45 of it. [ratio; chosen] */
  export const GOES_ON: f32 = 0.4;
  /** What a window takes from the sum of those before: 64 s of memory. [share; derived: two windows] */
  export const USUAL_MEMORY: f32 = 0.03125;
  /** Doubted windows since the last trusted one up to which the breath may be held, so that what is usual stays: 64 s. [windows; derived: USUAL_MEMORY] */
  export const LONGEST_HELD: i32 = 32;
  /** What each further doubted window takes from their sum: a breath that stays at a third of its depth is trusted again after 100 s. [share; derived: a window] */
  export const SHALLOWER: f32 = 0.0625;
  /** Maximum that a window can add to the usual swing, relative to it: a sigh or a movement is deeper. [ratio; chosen] */
  export const DEEPER: f32 = 2;
}
