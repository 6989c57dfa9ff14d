/** Tuning of the beats, their variability and rhythm. The brackets are explained in CONTRIBUTING.md. */

/** Beats of a source (from_ecg.ts, from_light.ts). */
export namespace BEAT {
  /** Time before a step's end in which beats may still change. [s; derived: a channel may be 3 s late, light is searched every 2 s and 0.8 s later, and a pulse may be that of a second wave for 1.5 s] */
  export const LAG: f64 = 8;
  /** Minimum interval between beats of two leads, or two searches. [s; derived: 300 bpm, the fastest of the range, less a tenth] */
  export const SHORTEST: f64 = 0.18;
  /** Maximum interval from one beat to the next: longer is a sinus pause. [s; cited: Kusumoto et al. 2018, guideline on bradycardia] */
  export const LONGEST: f64 = 3;
  /** Farthest that the places of two kinds' R peaks are apart. [grid samples; derived: half of the longest usual QRS complex, 0.12 s] */
  export const REACH: i32 = 8;
  /** Correlation above which the waves of two kinds have the same places. [correlation; chosen] */
  export const LIKE: f32 = 0.9;
  /** Beats without one of the main kind after which another is. [beats; derived: a window at 60 bpm] */
  export const FORGOTTEN: i32 = 60;
  /** Maximum time from the top of a pulse to that of its second wave. [s; derived: PULSE.FOOT_REACH of the respiratory rate at 32 Hz] */
  export const SECOND_WAVE: f64 = 1.5;
  /** Likeness of two heights above which both are those of pulses. [ratio; derived: more alike than not] */
  export const CREDIBLE: f32 = 0.5;
  /** Share of a pulse in the usual height. [share; cited: Hamilton and Tompkins 1986, of R peaks] */
  export const FOLLOW: f32 = 0.125;
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
  /** Time from its end to the step that computes it, when its beats are final in 999 of 1000 minutes. [s; derived: light is searched every 2 s and 0.8 s later, R peaks are found sooner] */
  export const LAG: f64 = 3;
  /** Part of it that intervals must cover. [share; derived: half, as of a respiratory rate] */
  export const LEAST: f64 = 0.5;
}

/** Irregularity of a window (fibrillation.ts). */
export namespace RHYTHM {
  /** Minimum change of an interval that can be resolved, relative to the interval. [ratio; derived: a step of a light's samples at 1000 Hz in a second] */
  export const RESOLVED: f32 = 0.001;
  /** First tolerance of the sample entropy. [s; cited: Lake and Moorman 2011] */
  export const TOLERANCE: f32 = 0.03;
  /** Minimum number of pairs that are alike. [intervals; cited: Lake and Moorman 2011] */
  export const ENOUGH: f32 = 5;
  /** Tolerances that are tried: the last one is 0.48 s. [intervals; derived: TOLERANCE] */
  export const DOUBLINGS: i32 = 5;
}

/** Trust in the variability (variability.ts). */
export namespace VARIABILITY {
  /** RMSSD beyond which no sinus rhythm changes, in parts of the mean interval. [ratio; cited: Malik et al., Eur. Heart J. 10:1060, 1989] */
  export const SINUS: f64 = 0.2;
  /** Doubt of a beat that is as clear as one can be. [probability; derived: exp(-EVIDENCE.MOST) of the R peaks] */
  export const LEAST_DOUBT: f32 = 1e-4;
  /** Jitter of a light that is as clear as one can be. [s; derived: a tenth of TICKS, the steps of a beat's time] */
  export const LEAST_JITTER: f32 = 1e-5;
  /** How much greater or smaller the thresholds of artefacts are tried, too. [ratio; chosen] */
  export const OTHER: f32 = 0.1;
}
