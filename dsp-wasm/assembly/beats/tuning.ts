/** Tuning of the beats, their variability and rhythm. The brackets are explained in CONTRIBUTING.md. */

/** Beats of a source (from_ecg.ts, from_light.ts). */
export namespace BEAT {
  /** Time before a step's end in which beats may still change. [s; derived: a channel may be 3 s late, light is searched every 2 s and 0.8 s later, and a pulse may be that of a second wave for 1.5 s] */
  export const LAG: f64 = 8;
  /** Shortest interval between beats of two leads, or two searches. [s; derived: 300 bpm, the fastest of the range, less a tenth] */
  export const SHORTEST: f64 = 0.18;
  /** Longest interval from one beat to the next: longer is a sinus pause. [s; cited: Kusumoto et al. 2018, guideline on bradycardia] */
  export const LONGEST: f64 = 3;
  /** Longest time from the top of a pulse to that of its second wave. [s; derived: PULSE.FOOT_REACH of the respiratory rate at 32 Hz] */
  export const SECOND_WAVE: f64 = 1.5;
  /** Stretch of light that is searched for pulses at a time. [s; derived: the step of rr-ppg] */
  export const STRETCH: f64 = 2;
}

/** Correction of artefacts (artefacts.ts). */
export namespace ARTEFACT {
  /** Slope of the bounds of ectopic beats. [ratio; cited: Lipponen and Tarvainen 2019] */
  export const SLOPE: f32 = 0.13;
  /** Their offset. [ratio; cited: Lipponen and Tarvainen 2019] */
  export const OFFSET: f32 = 0.17;
  /** Quartile deviations that are the threshold. [ratio; cited: Lipponen and Tarvainen 2019] */
  export const ALPHA: f32 = 5.2;
  /** Beats of the threshold to each side, 91 in all. [beats; cited: Lipponen and Tarvainen 2019] */
  export const HALF_WINDOW: i32 = 45;
  /** Beats of the median to each side, 11 in all. [beats; cited: Lipponen and Tarvainen 2019] */
  export const HALF_MEDIAN: i32 = 5;
  /** Threshold in deviations from the median. [ratio; cited: Lipponen and Tarvainen 2019] */
  export const FAR: f32 = 3;
}

/** Windows of variability and rhythm (window.ts). */
export namespace WINDOW {
  /** Length. [s; cited: Munoz et al. 2015, PLoS ONE 10(9):e0138921, of RMSSD] */
  export const SECONDS: f64 = 60;
  /** Part of it that intervals must cover. [share; derived: half, as of a respiratory rate] */
  export const LEAST: f64 = 0.5;
}
