/** Tuning of the ratio of ratios, a namespace a step. The brackets are explained in CONTRIBUTING.md. */

/** ratio.ts */
export namespace RATIO {
  /** Least correlation of the two channels within a second for it to count; noise alone hardly reaches it. [correlation; chosen] */
  export const ACCEPTED: f64 = 0.7;
  /** Fewest slopes of a second for it to count: half. [grid samples; chosen] */
  export const ENOUGH_SLOPES: f64 = 16;
  /** Fewest seconds of a window that count. [s; chosen] */
  export const LEAST_SECONDS: i32 = 3;
  /** Most that the squared ratio of a second differs from the usual one, as a factor. [ratio; chosen] */
  export const MOST_DIFFERENCE: f64 = 2;
  /** Largest step between two equal grid samples, by the rounding of f32, relative to their size. [ratio; chosen] */
  export const ROUNDING: f32 = 0.000001;
}

/** confidence.ts: the two channels */
export namespace CHANNELS {
  /** Share of a channel's steps that are flat up to which everything is trusted; fingers reach 0.03. [share; chosen] */
  export const LEAST_FLAT: f64 = 0.05;
  /** Share of a channel's steps that are flat from which nothing is trusted. [share; chosen] */
  export const MOST_FLAT: f64 = 0.15;
  /** Correlation of the channels up to which nothing is trusted. [correlation; chosen] */
  export const LEAST_CORRELATION: f64 = 0.6;
  /** Correlation of the channels from which everything is trusted. [correlation; chosen] */
  export const ENOUGH_CORRELATION: f64 = 0.9;
  /** Size of the infrared pulse, relative to its level, up to which nothing is trusted. [ratio; chosen] */
  export const LEAST_PERFUSION: f64 = 0.00005;
  /** Size of the infrared pulse from which everything is trusted. [ratio; chosen] */
  export const ENOUGH_PERFUSION: f64 = 0.0002;
  /** Size of the infrared pulse up to which everything is trusted; a perfusion index of 20 % is the highest. [ratio; chosen] */
  export const HIGH_PERFUSION: f64 = 0.1;
  /** Size of the infrared pulse from which nothing is trusted: the light came without its constant part. [ratio; chosen] */
  export const MOST_PERFUSION: f64 = 0.2;
  /** Evenness of the swings over the seconds up to which nothing is trusted. [share; chosen] */
  export const LEAST_EVEN: f64 = 0.2;
  /** Evenness of the swings over the seconds from which everything is trusted. [share; chosen] */
  export const ENOUGH_EVEN: f64 = 0.4;
  /** Share of the slopes' power that changes within a second up to which nothing is trusted. [share; chosen] */
  export const LEAST_SWING: f64 = 0.05;
  /** Share of the slopes' power that changes within a second from which everything is trusted. [share; chosen] */
  export const ENOUGH_SWING: f64 = 0.2;
}

/** confidence.ts: what may have raised the ratio */
export namespace RAISED {
  /** How much a movement may have raised the ratio, up to which everything is trusted: 2 % of saturation. [ratio; chosen] */
  export const LEAST: f64 = 0.05;
  /** The same from which on nothing is trusted: more than the 3 % that a reading may miss. [ratio; chosen] */
  export const SURE: f64 = 0.11;
  /** Share of the slopes over 1/4 s that one channel does not explain of the other, up to which nothing but one thing moves both. [share; chosen] */
  export const LEAST_REST: f64 = 0.002;
  /** The same from which a pulse may be hidden in a movement: one of 97 % in a movement six times as large leaves 0.007. [share; chosen] */
  export const MOST_REST: f64 = 0.006;
}

/** pulsatility.ts */
export namespace PULSE {
  /** Slowest pulse that is searched for, 28 bpm. [grid samples; chosen] */
  export const LAG_MAX: i32 = 70;
  /** Fastest pulse that is searched for, 240 bpm. [grid samples; chosen] */
  export const LAG_MIN: i32 = 8;
  /** Correlation at a shorter lag from which the channels count as humming. [correlation; chosen] */
  export const SOONER: f64 = 0.5;
  /** Height of the autocorrelation up to which the slopes are not a pulse. [correlation; chosen] */
  export const LEAST_PERIODIC: f64 = 0.3;
  /** Height of the autocorrelation from which the slopes are a pulse. [correlation; chosen] */
  export const ENOUGH_PERIODIC: f64 = 0.6;
  /** Skewness of the slopes up to which they are not a pulse. [skewness; chosen] */
  export const LEAST_SKEW: f64 = 0.7;
  /** Skewness of the slopes from which they are a pulse. [skewness; chosen] */
  export const ENOUGH_SKEW: f64 = 1;
  /** Confidence in a pulse that only its skewness shows. [share; chosen] */
  export const SKEW_SHARE: f64 = 0.7;
  /** Share of the confidence that remains if the channels agree about a signal other than a pulse. [share; chosen] */
  export const LEAST_PULSATILITY: f64 = 0.2;
  /** Weight of the growth against the skewness. [weight; derived: ARTEFACT_OF_GROWTH / -ARTEFACT_OF_SKEW of pulse/tuning.ts] */
  export const OF_GROWTH: f64 = 0.66;
  /**
   * Growth, weighed, less skewness, up to which the slopes are a pulse's: 99 of 100 trusted windows of a wrist at rest are below. [weight; chosen]
   */
  export const LEAST_MOVEMENT: f64 = -0.4;
  /** The same from which on they may be a movement's. [weight; chosen] */
  export const SURE_MOVEMENT: f64 = -0.1;
}
