import { SCRATCH } from '../memory/map';
import { BINS, BINS_ROW, STATES_ROW } from '../memory/pulse_state';
import { Row } from '../memory/row';

/** Working arrays of one estimate, as a chain: each begins where the previous one ends. A row of v128 holds four signals. */

/** Window of the heart rate: seconds, and grid samples. */
export const WINDOW_SECONDS: i32 = 8;
export const WINDOW: i32 = 256;
/** Grid samples before and after the optical channels that repeat their outermost values, for filters. */
export const MARGIN: i32 = 32;
/** Points of the window after decimation to every second grid sample. */
export const POINTS: i32 = WINDOW / 2;
/** First used bin of BINS: 0.44 to 6 Hz. */
export const FIRST_BIN: i32 = 7;
/** Hz per bin: the points are padded to twice their number. */
export const BIN_HZ: f32 = 0.0625; // SLOW_HZ / 2 / (2 * POINTS)
/** Most rises of a window. */
export const MAX_STROKES: i32 = WINDOW / 2;
/** Grid samples before and after a window of RISES. */
export const RISES_MARGIN: i32 = 8;
/** Lags of the autocorrelation. */
export const LAGS: i32 = 64;
/** Optical channels, each with its rising and its falling slopes. */
export const TRAINS: i32 = 8;
export const MAX_PEAKS: i32 = 64;
/** Grid samples of the longest beat that is compared, and most beats. */
export const WAVE: i32 = 64;
/** Number of rates that are compared in motion, one per bin, and traits of each. */
export const CANDIDATES: i32 = 52;
export const TRAIT_COUNT: i32 = 15;
/** Bins up to beyond the triple of the last candidate. */
export const LEVELS: i32 = 192;

/** The straight line through a window and its residual, by lane. */
@unmanaged
export class Trend {
  mean: v128;
  /** Sum of the squares of the residual. */
  energy: v128;
}

/** A spectral line of one window: its phase is that at the window's middle. */
@unmanaged
export class Line {
  re: f32;
  im: f32;

  get size(): f32 {
    return max<f32>(Mathf.sqrt(this.re * this.re + this.im * this.im), 1e-20);
  }
}

/** Extreme of a slope. */
@unmanaged
export class Peak {
  /** Grid samples from the window's start. */
  time: f32;
  height: f32;
}

/** Result of the beats of one train. */
@unmanaged
export class TrainRate {
  /** Heart rate, bpm; 0 for fewer than two intervals. */
  rate: f32;
  /** Variation of the intervals plus that of the slopes. */
  spread: f32;
  /** Intervals of about one period. */
  intervals: f32;
}

/** Result of the beats of all trains. */
@unmanaged
export class Beats {
  /** Heart rate, bpm; 0 if no train has two intervals. */
  rate: f32;
  /** Train with the smallest spread; -1 for none. */
  best: i32;
  /** Smallest spread of a train. */
  spread: f32;
  /** Number of beats of the best train, as a share of the number that fit into the window at the tracked rate. */
  cover: f32;
}

/** Result of the beats that are counted one by one. */
@unmanaged
export class CountedBeats {
  /** Heart rate, bpm. */
  rate: f32;
  /** Beats that are detected only by the pause after them. */
  lost: i32;
  /** Standard deviation of the intervals divided by their mean. */
  variation: f32;
  /** The same for the intervals between clear upstrokes, without the long ones. */
  steadiness: f32;
  /** Similarity of the upstrokes, at most 1. */
  likeness: f32;
  /** Skewness of the slopes, upstrokes above zero. */
  skew: f32;
  /** Slope of the steepest rise that does not count, divided by that of the smallest one that does. */
  margin: f32;
  /** Shortest and longest interval, grid samples. */
  shortest: f32;
  longest: f32;
  /** The longest interval, and the longer end of the window without a beat, in median intervals. */
  gap: f32;
  edge: f32;
  /** Standard deviation of the error of a beat's time, grid samples. */
  jitter: f32;
  /** Number of beats with a pulse. */
  beats: i32;
  /** Variation of the intervals from each beat to the next but one. */
  pairVariation: f32;
  /** The least slope of the upstrokes, divided by the greatest. */
  evenness: f32;
  /** Variation of the intervals that is no pattern of two or three. */
  disorder: f32;
  /** Share of the intervals that hold a weak upstroke at the same delay, too late to be a second wave. */
  followed: f32;
  /** Heart rate if weak upstrokes that come in a row are beats, too, bpm; 0 where there are none. */
  withRuns: f32;
}

/** The rate with the most belief. */
@unmanaged
export class Tracked {
  /** Heart rate, bpm. */
  rate: f32;
  /** Probability of it and its neighbours. */
  belief: f32;
}

const SIGNAL_BYTES: usize = WINDOW * sizeof<f32>();
const VECTORS_BYTES: usize = WINDOW * sizeof<v128>();
const MARGIN_BYTES: usize = MARGIN * sizeof<v128>();
const SPECTRUM_BYTES: usize = BINS_ROW * sizeof<f32>();

/** Four signals, one after the other. */
export const SIGNALS = changetype<Row<f32>>(SCRATCH);
const SIGNALS_END: usize = SCRATCH + 4 * SIGNAL_BYTES;

/** The optical channels, with margins before and after. */
export const OPTICAL = changetype<Row<v128>>(SIGNALS_END + MARGIN_BYTES);
const OPTICAL_END: usize = SIGNALS_END + VECTORS_BYTES + 2 * MARGIN_BYTES;

/** The axes of the accelerometer. */
export const AXES = changetype<Row<v128>>(OPTICAL_END);
const AXES_END: usize = OPTICAL_END + VECTORS_BYTES;

/** By optical channel: grid samples with a value. */
export const HELD = changetype<Row<i32>>(AXES_END);
const HELD_END: usize = AXES_END + 16;

/** By optical channel: share of the window near its extremes. */
export const CLIPPED = changetype<Row<f32>>(HELD_END);
const CLIPPED_END: usize = HELD_END + 16;

/** By optical channel: its constant part; 0 if it was removed before the data came, and for an empty lane. */
export const OPTICAL_LEVELS = changetype<Row<f32>>(CLIPPED_END);
const OPTICAL_LEVELS_END: usize = CLIPPED_END + 16;

/** By optical channel: power of its swings within 1/2 s, as a share of all. */
export const SWINGS = changetype<Row<f32>>(OPTICAL_LEVELS_END);
const SWINGS_END: usize = OPTICAL_LEVELS_END + 16;

/** By optical channel: power of its steps from one grid sample to the next, as a share of all. */
export const JUMPS = changetype<Row<f32>>(SWINGS_END);
const JUMPS_END: usize = SWINGS_END + 16;

/** By optical channel: share of its grid samples that equal the previous one. */
export const STILL = changetype<Row<f32>>(JUMPS_END);
const STILL_END: usize = JUMPS_END + 16;

/** By optical channel: how evenly its steps are spread. */
export const EVEN = changetype<Row<f32>>(STILL_END);
const EVEN_END: usize = STILL_END + 16;

/** Of the signals that were loaded last. */
export const TREND = changetype<Trend>(EVEN_END);
const TREND_END: usize = EVEN_END + offsetof<Trend>();

/** Means of the axes, offset included. */
export const MEANS = changetype<Row<f64>>(TREND_END);
const MEANS_END: usize = TREND_END + 4 * sizeof<f64>();

/** The decimated window, followed by the same number of zeros. */
export const FFT_IN = changetype<Row<v128>>(MEANS_END);
const FFT_IN_END: usize = MEANS_END + 2 * POINTS * sizeof<v128>();

export const FFT_WORK = changetype<Row<v128>>(FFT_IN_END);
const FFT_WORK_END: usize = FFT_IN_END + 2 * POINTS * sizeof<v128>();

/** Spectra of the optical channels: real and imaginary part of each bin. */
export const OPTICAL_FFT = changetype<Row<v128>>(FFT_WORK_END);
const OPTICAL_FFT_END: usize = FFT_WORK_END + 2 * BINS * sizeof<v128>();

/** The same of the axes. */
export const AXES_FFT = changetype<Row<v128>>(OPTICAL_FFT_END);
const AXES_FFT_END: usize = OPTICAL_FFT_END + 2 * BINS * sizeof<v128>();

/** Normal equations of the filter that takes the motion off: products of its taps, and of them with the optical channels. */
export const GRAM = changetype<Row<f32>>(AXES_FFT_END);
const GRAM_END: usize = AXES_FFT_END + ((81 * sizeof<f32>() + 15) & ~15);

export const RESPONSE = changetype<Row<v128>>(GRAM_END);
const RESPONSE_END: usize = GRAM_END + 9 * sizeof<v128>();

/** By optical channel: power that each bin keeps. */
export const RESIDUAL_FLOOR = changetype<Row<v128>>(RESPONSE_END);
const RESIDUAL_FLOOR_END: usize = RESPONSE_END + sizeof<v128>();

export const POWER = changetype<Row<v128>>(RESIDUAL_FLOOR_END);
const POWER_END: usize = RESIDUAL_FLOOR_END + BINS_ROW * sizeof<v128>();

/** By optical channel: reciprocal of its strongest bin, 0 where it is not used. */
export const OPTICAL_SCALE = changetype<Row<f32>>(POWER_END);
const OPTICAL_SCALE_END: usize = POWER_END + 16;

/** Power spectrum of the pulse. */
export const PULSE = changetype<Row<f32>>(OPTICAL_SCALE_END);
const PULSE_END: usize = OPTICAL_SCALE_END + SPECTRUM_BYTES;

/** Power spectrum of the acceleration. */
export const NOISE = changetype<Row<f32>>(PULSE_END);
const NOISE_END: usize = PULSE_END + SPECTRUM_BYTES;

/** Greatest power of an axis, by bin. */
export const LOUDEST = changetype<Row<f32>>(NOISE_END);
const LOUDEST_END: usize = NOISE_END + SPECTRUM_BYTES;

/** Power spectrum of the pulse's slope, every second bin. */
export const SLOPE_POWER = changetype<Row<f32>>(LOUDEST_END);
const SLOPE_POWER_END: usize = LOUDEST_END + SPECTRUM_BYTES;

/** Autocorrelation of the pulse's slope, by lag. */
export const PERIODICITY = changetype<Row<f32>>(SLOPE_POWER_END);
const PERIODICITY_END: usize = SLOPE_POWER_END + LAGS * sizeof<f32>();

/** Likelihood of each heart rate. */
export const LIKELIHOOD = changetype<Row<f32>>(PERIODICITY_END);
const LIKELIHOOD_END: usize = PERIODICITY_END + STATES_ROW * sizeof<f32>();

/** Belief, spread to higher and to lower rates. */
export const UPWARD = changetype<Row<f32>>(LIKELIHOOD_END);
const UPWARD_END: usize = LIKELIHOOD_END + STATES_ROW * sizeof<f32>();

export const DOWNWARD = changetype<Row<f32>>(UPWARD_END);
const DOWNWARD_END: usize = UPWARD_END + STATES_ROW * sizeof<f32>();

export const TRACKED = changetype<Tracked>(DOWNWARD_END);
const TRACKED_END: usize = DOWNWARD_END + 16;

/** One side of the smoothing kernel. */
export const KERNEL = changetype<Row<f32>>(TRACKED_END);
const KERNEL_END: usize = TRACKED_END + MARGIN * sizeof<f32>();

/** Sums of two grid samples each, with margins before and after. */
export const PAIRS = changetype<Row<v128>>(KERNEL_END + MARGIN_BYTES / 2);
const PAIRS_END: usize = KERNEL_END + VECTORS_BYTES / 2 + MARGIN_BYTES;

/** Smoothed derivative. */
export const SLOPES = changetype<Row<v128>>(PAIRS_END);
const SLOPES_END: usize = PAIRS_END + VECTORS_BYTES;

/** Peaks of each train, MAX_PEAKS apart. */
export const PEAKS = changetype<Row<Peak>>(SLOPES_END);
const PEAKS_END: usize = SLOPES_END + TRAINS * MAX_PEAKS * offsetof<Peak>();

/** Number of peaks of each train. */
export const PEAK_COUNTS = changetype<Row<i32>>(PEAKS_END);
const PEAK_COUNTS_END: usize = PEAKS_END + TRAINS * sizeof<i32>();

export const TRAIN_RATE = changetype<TrainRate>(PEAK_COUNTS_END);
const TRAIN_RATE_END: usize = PEAK_COUNTS_END + 16;

export const BEATS = changetype<Beats>(TRAIN_RATE_END);
const BEATS_END: usize = TRAIN_RATE_END + 16;

/** Sum of the waves. */
export const TEMPLATE = changetype<Row<f32>>(BEATS_END);
const TEMPLATE_END: usize = BEATS_END + WAVE * sizeof<f32>();

/** Each beat's wave, WAVE apart. */
export const WAVES = changetype<Row<f32>>(TEMPLATE_END);
const WAVES_END: usize = TEMPLATE_END + MAX_PEAKS * WAVE * sizeof<f32>();

/** Mean of the logarithms of the optical channels' powers. */
export const OPTICAL_LEVEL = changetype<Row<f32>>(WAVES_END);
const OPTICAL_LEVEL_END: usize = WAVES_END + LEVELS * sizeof<f32>();

/** Power of the axes together. */
export const AXES_POWER = changetype<Row<f32>>(OPTICAL_LEVEL_END);
const AXES_POWER_END: usize = OPTICAL_LEVEL_END + SPECTRUM_BYTES;

/** Its logarithm. */
export const AXES_LEVEL = changetype<Row<f32>>(AXES_POWER_END);
const AXES_LEVEL_END: usize = AXES_POWER_END + LEVELS * sizeof<f32>();

/** The same as OPTICAL_LEVEL of what the axes do not explain. */
export const RESIDUAL_LEVEL = changetype<Row<f32>>(AXES_LEVEL_END);
const RESIDUAL_LEVEL_END: usize = AXES_LEVEL_END + LEVELS * sizeof<f32>();

/** Traits of the candidates, CANDIDATES apart, and room for those of four more, which are not used. */
export const TRAITS = changetype<Row<f32>>(RESIDUAL_LEVEL_END);
const TRAITS_END: usize = RESIDUAL_LEVEL_END + (TRAIT_COUNT * CANDIDATES + 4) * sizeof<f32>();

/** Likelihood of each candidate, and the same room. */
export const SCORES = changetype<Row<f32>>(TRAITS_END);
const SCORES_END: usize = TRAITS_END + (CANDIDATES + 4) * sizeof<f32>();

/** One optical channel, then its slopes, with margins before and after. */
export const RISES = changetype<Row<f32>>(SCORES_END + RISES_MARGIN * sizeof<f32>());
const RISES_END: usize = SCORES_END + SIGNAL_BYTES + 2 * RISES_MARGIN * sizeof<f32>();

/** Slopes of either sign. */
export const STROKE = changetype<Row<f32>>(RISES_END);
const STROKE_END: usize = RISES_END + SIGNAL_BYTES;

/** Steepest points of the rises. */
export const STROKES = changetype<Row<Peak>>(STROKE_END);
const STROKES_END: usize = STROKE_END + MAX_STROKES * offsetof<Peak>();

/** The elements of STROKES that are beats. */
export const STROKE_BEATS = changetype<Row<i32>>(STROKES_END);
const STROKE_BEATS_END: usize = STROKES_END + MAX_STROKES * sizeof<i32>();

/** The elements of STROKES that are weak beats in pauses, the newest first. */
export const WEAK_AT = changetype<Row<i32>>(STROKE_BEATS_END);
const WEAK_AT_END: usize = STROKE_BEATS_END + MAX_STROKES * sizeof<i32>();

/** Intervals between clear upstrokes, sorted. */
export const INTERVALS = changetype<Row<f32>>(WEAK_AT_END);
const INTERVALS_END: usize = WEAK_AT_END + MAX_STROKES * sizeof<f32>();

/** Sum of the upstrokes' slopes. */
export const STROKE_SUM = changetype<Row<f32>>(INTERVALS_END);
const STROKE_SUM_END: usize = INTERVALS_END + 16 * sizeof<f32>();

export const COUNTED = changetype<CountedBeats>(STROKE_SUM_END);
const COUNTED_END: usize = STROKE_SUM_END + 80;

/** The lines at half the rate, the rate and its double. */
export const HALF = changetype<Line>(COUNTED_END);
export const LINE = changetype<Line>(COUNTED_END + offsetof<Line>());
export const DOUBLE = changetype<Line>(COUNTED_END + 2 * offsetof<Line>());
export const PULSE_SCRATCH_END: usize = (COUNTED_END + 3 * offsetof<Line>() + 15) & ~15;
