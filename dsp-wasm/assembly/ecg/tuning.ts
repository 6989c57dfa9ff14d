/** Tuning of the R peaks and of the heart rate from them. The brackets are explained in CONTRIBUTING.md. */

/** Levels of a feature at beats and between them (levels.ts). */
export namespace LEVEL {
  /** Share of a beat in levels and running means, which follow within about 8 beats. [share; cited: Hamilton and Tompkins 1986] */
  export const FOLLOW: f32 = 0.125;
  /** Share of a larger noise in its level: it rises faster, as noise comes suddenly. [share; fitted: npm run fit -- --constants] */
  export const RISE: f32 = 0.4;
  /** Maximum of the noise, in parts of the beats' level: a feature that says nothing now must be able to say so later. Noise beyond it may hide a beat. [ratio; fitted: npm run fit -- --constants] */
  export const CLOSEST: f32 = 0.55;
  /** Minimum of the noise, in parts of the beats' level: less says no more. [ratio; chosen] */
  export const FARTHEST: f32 = 0.05;
  /** Maximum that a beat counts for in the level, in parts of it. [ratio; fitted: npm run fit -- --constants] */
  export const LARGEST: f32 = 2;
}

/** Evidence for a beat at a grid sample (evidence.ts). */
export namespace EVIDENCE {
  /** Half width within which a peak of the evidence is the greatest, and the farthest that the peak of a beat may lie from it, 62 ms. [grid samples; derived: half of the longest usual QRS complex, 0.12 s] */
  export const GUARD: i32 = 8;
  /** Farthest that a feature counts past noise, in parts of the way to beats: an artefact counts little more than a beat. [ratio; fitted: npm run fit -- --constants] */
  export const FARTHEST: f32 = 1.6;
  /** Steepness of the log odds over the position, by the separation less one. [weight; fitted: npm run fit -- --constants] */
  export const STEEPNESS: f32 = 3;
  /** Bound of one beat's evidence: above two surprises, so that clear beats correct a wrong expectation of the period. [log odds; derived: twice PATH.MOST_SURPRISE and 1] */
  export const MOST: f32 = 9;
  /** Separation of the breadth above which breadth alone makes a beat, as it tells beats from T waves, and of the energy, as electrode motion is broad as well. [ratio; fitted: npm run fit -- --constants] */
  export const WIDE_RATIO: f32 = 2.5;
  /** Bound of such a beat's evidence: above one surprise and below two, so that none is put between two beats of a regular rhythm. [log odds; derived: PATH.MOST_SURPRISE and 1] */
  export const MOST_WIDE: f32 = 5;
  /** Energy of a wave over its width below which it is too slow for a QRS complex beside sharper ones: that of a Gaussian of 45 ms. Above 0.113 broad beats of bigeminy are lost. [ratio; fitted: npm run fit -- --constants] */
  export const SLOW: f32 = 0.11;
}

/** Lines that may stand for lost data (r_peaks.ts, evidence.ts). */
export namespace FLAT {
  /** Energy, against the usual least one between two beats, below which a link may have put a line where data were lost. [ratio; fitted: npm run fit -- --constants] */
  export const SMOOTH: f32 = 0.2;
  /** Minimum length of a flat line, 0.15 s: a usual QRS complex is shorter than 0.12 s, and its ends are not flat. [grid samples; derived: the longest usual QRS complex] */
  export const SAMPLES: i32 = 19;
  /** Minimum length of a flat line that may have replaced a QRS complex, 55 ms: a link may lose as little. [grid samples; fitted: npm run fit -- --constants] */
  export const HELD: i32 = 7;
  /** Difference of two grid samples of the same values, in parts of them. [ratio; derived: from f32, several times 6e-8] */
  export const ROUNDING: f32 = 5e-7;
}

/** Sequence of beats (beat_path.ts). */
export namespace PATH {
  /** Minimum RR interval on a path, 250 bpm, unless the heart is faster already. [s; cited: ANSI/AAMI EC13, the fastest heart of a child that a monitor must show] */
  export const SHORTEST: f32 = 0.24;
  /** Share of the expected period that is the shortest interval in a fast rhythm. [share; chosen] */
  export const SHORTEST_SHARE: f32 = 0.45;
  /** Latest top of a T wave, and shortest interval before a broad beat, which may be one. [s; cited: Pan and Tompkins 1985] */
  export const SHORTEST_WIDE: f32 = 0.36;
  /** Maximum sharpness of a T wave, in parts of its beat's. [ratio; cited: Pan and Tompkins 1985] */
  export const T_SHARPNESS: f32 = 0.5;
  /** Latest T wave after its beat. [s; cited: upper limit of QTc, Rautaharju et al. 2009] */
  export const LATEST_T: f32 = 0.45;
  /** Maximum RR interval on a path; after a longer one a new path begins. [s; fitted: npm run fit -- --constants] */
  export const LONGEST: f32 = 2.6;
  /** Surprise of an interval r times the period, over (ln r)^2: 10 % of heart rate variability costs 0.2. [log odds; chosen] */
  export const STEADINESS: f32 = 20;
  /** The most that an interval surprises. [log odds; fitted: npm run fit -- --constants] */
  export const MOST_SURPRISE: f32 = 4;
  /** Minimum period that is expected. [s; derived: 300 bpm, the fastest of the range, less a tenth] */
  export const SHORTEST_PERIOD: f32 = 0.18;
  /** Maximum expected period: from 2.4 s on, half the rate can persist after noise. [s; fitted: npm run fit -- --constants] */
  export const LONGEST_PERIOD: f32 = 1.6;
  /** Share of an interval in the expected period. [share; chosen] */
  export const FOLLOW: f32 = 0.2;
  /** Minimum interval that the period follows. [periods; derived: 1 / MOST_CHANGE] */
  export const LEAST_CHANGE: f32 = 0.6;
  /** Maximum interval that the period follows: after a longer one a beat was missed. [periods; cited: Pan and Tompkins 1985] */
  export const MOST_CHANGE: f32 = 1.66;
}

/** What is measured of a beat and of what lies before it (beat_measure.ts). */
export namespace MEASURE {
  /** Latest T wave after a beat. [grid samples; derived: PATH.LATEST_T at 128 Hz] */
  export const LATEST_T: i32 = 58;
  /** Earliest P wave before a beat, 0.27 s. [grid samples; derived: the longest usual PR interval, 0.2 s, and half of a QRS complex] */
  export const EARLIEST_P: i32 = 34;
  /** Samples this close to a beat, 203 ms, are excluded from the noise estimate. [grid samples; cited: the refractory time of Pan and Tompkins 1985] */
  export const DEAD: i32 = 26;
  /** Or so many tenths of the interval, where they are fewer. [tenths; fitted: npm run fit -- --constants] */
  export const DEAD_TENTHS: i32 = 3;
  /** Longer intervals are pauses or missed beats and tell nothing of the noise between beats. [grid samples; derived: RHYTHM.LONGEST at 128 Hz] */
  export const PAUSE: i32 = 384;
  /** Share of a block in the running power of changes: about 2 s. [share; derived: a block of 16 at 128 Hz] */
  export const BLOCK_SHARE: f32 = 0.0625;
}

/** Quality of a beat (beat_measure.ts). */
export namespace QUALITY {
  /** Breadth between the two, against that of beats, above which an ectopic beat may have been missed, and below which a beat may be a P wave. [ratio; fitted: npm run fit -- --constants] */
  export const STRAY_SHARE: f32 = 0.45;
  /** Maximum quality of a beat after such a beat, which may be right or wrong. [probability; derived: even odds] */
  export const STRAY: f32 = 0.5;
  /** Part of a beat's top above which it counts for its spread; less is noise. [ratio; fitted: npm run fit -- --constants] */
  export const SPREAD_FROM: f32 = 0.15;
  /** Minimum spread of a QRS complex, 13.2 ms, of which a spike without width has 10 from the wavelet. [grid samples; fitted: npm run fit -- --constants] */
  export const SHORTEST_SPREAD: f32 = 1.69;
}

/** Usual size of beats (beat_measure.ts). */
export namespace SIZE {
  /** Minimum size of a T wave, against the breadth of its beat. [ratio; fitted: npm run fit -- --constants, on benches] */
  export const LEAST_T: f32 = 0.05;
  /** Mean sign above which T waves follow the beats: that of noise hardly ever reaches it. [ratio; derived: three deviations of the mean of even signs, sqrt(FOLLOW / (2 - FOLLOW)), by LEVEL.FOLLOW] */
  export const ENOUGH_WAVES: f32 = 0.775;
  /** Number of consecutive beats, without noise that could hide one, that define the usual beat. [beats; derived: 1 / LEVEL.FOLLOW] */
  export const ENOUGH_CLEAR: i32 = 8;
  /** Energy, against the usual one, below which a beat may be a P wave. [ratio; chosen] */
  export const SMALL_ENERGY: f32 = 0.25;
  /** Breadth, against the usual one, below which that was an artefact's: 0.5 mV, the least QRS complex, of an electrode's 300 mV. [ratio; cited: ANSI/AAMI EC13] */
  export const LEAST_BREADTH: f32 = 0.00167;
}

/** Beats between two others, at equal parts of the interval (beat_measure.ts). */
export namespace MIDWAY {
  /** Minimum size of such a beat, in parts of the others. [share; fitted: npm run fit -- --constants] */
  export const WEAKEST: f32 = 0.15;
  /** Share of the newest intervals with such a beat above which those of the size of the others are beats. [share; derived: KINDS.ENOUGH in a row, by LEVEL.FOLLOW] */
  export const ENOUGH: f32 = 0.33;
  /** Mean projection on the template midway, in parts of the beats', above which beats were missed there. [share; derived: half, less a tenth that beats lose which are not quite midway] */
  export const MISSED: f32 = 0.45;
}

/** Kinds of beats (kinds.ts). */
export namespace KINDS {
  /** Share of its norm that a beat must have along a template to be of its kind. [share; fitted: npm run fit -- --constants] */
  export const LIKE: f32 = 0.8;
  /** Beats that make a template. [beats; fitted: npm run fit -- --constants] */
  export const ENOUGH: i32 = 3;
}

/** Baseline of a beat (beat_measure.ts). */
export namespace BASELINE {
  /** Stretch about a beat whose mean is its baseline, 0.69 s: all that is there when a beat is decided. [grid samples; derived: twice DECISION.AGE, less 4 to each side] */
  export const SAMPLES: i32 = 88;
}

/** When beats are decided (r_peaks.ts). */
export namespace DECISION {
  /** A beat is decided by the first block that ends at least this long after it, 0.375 s: a later wave is no T wave of it. [grid samples; derived: PATH.SHORTEST_WIDE in whole blocks] */
  export const AGE: i32 = 48;
  /** Age above which a beat is decided late, 0.5 s. [grid samples; derived: DECIDE_AGE and a block] */
  export const LATEST: i32 = 64;
}

/** First levels (r_peaks.ts). */
export namespace LEARNING {
  /** Length of the stretch that levels are learnt from, twice as long if one beat alone stands out. [s; cited: Pan and Tompkins 1985] */
  export const SECONDS: i32 = 2;
  /** Stretch without beats after which they are learnt again. [grid samples; derived: RHYTHM.LONGEST at 128 Hz] */
  export const SEARCH: i32 = 384;
  /** Size of a beat in parts of the greatest feature, when the levels are learnt. [ratio; fitted: npm run fit -- --constants] */
  export const BEAT: f32 = 0.8;
  /** Gap after which everything is learnt again, 8 s: the electrodes may have moved. [grid samples; derived: the window of a heart rate] */
  export const LOST: i32 = 1024;
}

/** The intervals of a window (rhythm.ts). */
export namespace RHYTHM {
  /** Maximum interval that can be one beat to the next: longer is a sinus pause. [s; cited: Kusumoto et al. 2018, guideline on bradycardia] */
  export const LONGEST: f64 = 3;
  /** Variation of the newest intervals above which they are no rhythm: atrial fibrillation has about 0.25, bigeminy 0.4, and spikes at random times 0.7 to 1. [ratio; fitted: npm run fit -- --constants] */
  export const RANDOM: f64 = 0.55;
  /** Difference of two intervals of the same length. [ratio; cited: ANSI/AAMI EC13, the error of a heart rate that a monitor may have] */
  export const SAME: f64 = 0.1;
  /** Newest intervals that tell one from the other. [intervals; derived: 1 / LEVEL.FOLLOW] */
  export const TELLING: i32 = 8;
  /** Length of an obscured interval above which it may hide a beat, in usual ones. [ratio; derived: midway between one interval and two] */
  export const HIDING: f64 = 1.5;
}

/** The heart rate of a lead (heart_rate.ts). */
export namespace CONFIDENCE {
  /** Minimum probability of a trusted rate. [probability; fitted: npm run fit -- --constants] */
  export const SURE: f64 = 0.625;
  /** Confidence above which a lead that contradicts takes the trust in another. [probability; chosen] */
  export const CONTRADICTING: f64 = 0.97;
  /** Number of beats that must be right for a respiratory rate from beats. [beats; derived: BEAT.FEWEST of the respiratory rate] */
  export const TELLING_BEATS: f64 = 8;
  /** Shift of the level above which beats are stairs. [ratio; fitted: npm run fit -- --constants] */
  export const MOST_SHIFT: f32 = 0.75;
  /** Fit of the beats to their template above which it may be an ECG. [share; fitted: npm run fit -- --constants] */
  export const USUAL_FIT: f32 = 0.79;
  /** Maximum time that a decision takes. [s; derived: DECIDE_LATEST at 128 Hz] */
  export const DECIDE_SECONDS: f64 = 0.5;
  /** Closest that a peak may follow another, 0.18 s. [grid samples; derived: PATH.SHORTEST_PERIOD at 128 Hz] */
  export const CLOSEST_PEAK: i32 = 23;
  /** Minimum size of a QRS complex, in parts of the level under it: ten times what filters lose to f32. [ratio; derived: from f32] */
  export const LEAST_OF_LEVEL: f64 = 1e-4;
  /** The same in parts of the offset that was taken off before. [ratio; derived: from f32, several times 6e-8] */
  export const LEAST_OF_OFFSET: f64 = 4e-7;
  /** Odds against a beat whose morphology is clear, the least that evidence tells. [odds; derived: exp(-EVIDENCE.MOST)] */
  export const CLEAR_ODDS: f64 = 1.2e-4;
  /** Smallest rest that counts; smaller ones count as this. [ratio; derived: clean ECGs have more] */
  export const LEAST_REST: f32 = 0.03;
  /** Difference up to which two leads have the same heart rate: the tolerance of a reading. [bpm; derived: README] */
  export const SAME_RATE: f64 = 5;
}

/** Hum (evidence.ts, heart_rate.ts). */
export namespace HUM {
  /** The slower of 50 and 60 Hz. [Hz; derived: mains] */
  export const MAINS: f64 = 50;
  /** Phase of the mains in half a grid sample. [ratio; derived: π times MAINS over 128 Hz] */
  export const PHASE: f64 = (Math.PI * 50) / 128;
  /** Mean projection on the template between beats, in parts of that of a beat note, above which they are the tops of waves. [ratio; chosen] */
  export const MOST_REST: f32 = 0.45;
  /** Maximum rest that noise leaves, for each misfit of the beats: nine in ten noisy ECGs have less, and a beat note that is the whole signal has 4 to 30. [ratio; chosen] */
  export const NOISE_REST: f32 = 1.15;
  /** Bend of beats that are cusps: nearly all QRS complexes have below 0.3. [ratio; chosen] */
  export const CUSP: f32 = 0.4;
  /** Power of changes from sample to sample, against that over two samples, above which hum outweighs all else: of white noise, the grid leaves 0.75 at most, give or take 0.05 in 2 s. [ratio; derived: of white noise (resample.ts), and three deviations] */
  export const MOST: f32 = 0.9;
}
