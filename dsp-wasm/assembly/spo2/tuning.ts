/** Tuning of the ratio of ratios, a namespace a step. The brackets are explained in CONTRIBUTING.md. */

/** ratio.ts */
export namespace RATIO {
  /** Minimum correlation of the two channels within a second for it to count; noise alone hardly reaches it. [correlation; fitted: npm run fit -- --constants] */
  export const ACCEPTED: f64 = 0.7;
  /** Minimum number of seconds of a window that count. [s; derived: a median of fewer leaves out none] */
  export const LEAST_SECONDS: i32 = 3;
  /** Maximum difference of the squared ratio of a second from the usual one, as a factor. [ratio; fitted: npm run fit -- --constants] */
  export const MOST_DIFFERENCE: f64 = 2;
  /** Largest step between two equal grid samples, relative to their size. [ratio; derived: eight roundings of f32] */
  export const ROUNDING: f32 = 0.000001;
  /**
   * Largest rms slope over 1/8 s of the infrared, relative to its level: that of a pulse of 20 %, the highest perfusion index of oximeters, half of
   * which it is at most. More comes without its constant part. [ratio; cited: Masimo, perfusion index of 0.02 to 20 %]
   */
  export const MOST_PERFUSION: f64 = 0.1;
}

/** pulsatility.ts */
export namespace PULSE {
  /** Slowest pulse that is searched for, 28 bpm. [grid samples; derived: the range of hr-ppg] */
  export const LAG_MAX: i32 = 70;
  /** Fastest pulse that is searched for, 240 bpm. [grid samples; derived: the range of hr-ppg] */
  export const LAG_MIN: i32 = 8;
}

/** confidence.ts */
export namespace CONFIDENCE {
  /** Skewness of the slopes above which they are no noise. [skewness; derived: 99 of 100 windows of made noise have less] */
  export const SKEWED: f64 = 0.7;
  /** Minimum probability of a trusted ratio. [probability; derived: 6 / 7, as a wrong trusted reading costs as much as six right ones that are not] */
  export const SURE: f32 = 0.857;
}
