import { RATES } from '../memory/breath_state';
import { SCRATCH } from '../memory/map';
import { Row } from '../memory/row';

/** Working arrays of one estimate, as a chain: each begins where the previous one ends. A row of v128 holds four series. */

/** Window of the respiratory rate, seconds. */
export const RR_WINDOW: f64 = 32;
/** Points of a series: a window at 4 Hz. */
export const POINTS: i32 = 128;
/** Most beats in a window: 32 s at 225 bpm. */
export const MAX_BEATS: i32 = 120;
/** Grid samples of the longest stretch that is searched for pulses, including those before it, rounded up to whole vectors. */
const LONGEST_ROW: i32 = 1152;
/** Number of values by beat, rounded up to whole vectors, plus one vector. */
const BEAT_ROW: i32 = 128;

/** Common properties of the window's beats. */
@unmanaged
export class Beats {
  count: i32;
  /** Median interval, seconds. */
  medianInterval: f32;
  meanHeight: f32;
  meanWidth: f32;
  /** Weight of the series: full if two of three beats have a regular interval. */
  steadiness: f32;
  /** Probability that they are beats, by the share of the clean ones. */
  trust: f32;
}

const LONGEST_BYTES: usize = LONGEST_ROW * sizeof<f32>();
const BEAT_BYTES: usize = BEAT_ROW * sizeof<f32>();
/** The transform needs room for twice the points. */
const SERIES_BYTES: usize = 2 * POINTS * sizeof<v128>();
const POINTS_BYTES: usize = POINTS * sizeof<f32>();

/** A stretch of one sub-channel. */
export const RAW = changetype<Row<f32>>(SCRATCH);
const RAW_END: usize = SCRATCH + LONGEST_BYTES;

/** Its mean over a second. */
export const MEAN = changetype<Row<f32>>(RAW_END);
const MEAN_END: usize = RAW_END + LONGEST_BYTES;

/** The same, band-passed. */
export const BAND = changetype<Row<f32>>(MEAN_END);
const BAND_END: usize = MEAN_END + LONGEST_BYTES;

export const ENERGY = changetype<Row<f32>>(BAND_END);
const ENERGY_END: usize = BAND_END + LONGEST_BYTES;

/** Mean energy over a systolic peak, and over a beat. */
export const NEAR = changetype<Row<f32>>(ENERGY_END);
const NEAR_END: usize = ENERGY_END + LONGEST_BYTES;

export const WIDE = changetype<Row<f32>>(NEAR_END);
const WIDE_END: usize = NEAR_END + LONGEST_BYTES;

export const BEATS = changetype<Beats>(WIDE_END);
const BEATS_END: usize = WIDE_END + ((offsetof<Beats>() + 15) & ~15);

/** By beat: seconds from the window's end (negative). */
export const TIME = changetype<Row<f32>>(BEATS_END);
const TIME_END: usize = BEATS_END + BEAT_BYTES;

/** By beat: seconds since the previous beat; NaN if unknown. */
export const INTERVAL = changetype<Row<f32>>(TIME_END);
const INTERVAL_END: usize = TIME_END + BEAT_BYTES;

export const HEIGHT = changetype<Row<f32>>(INTERVAL_END);
const HEIGHT_END: usize = INTERVAL_END + BEAT_BYTES;

export const BASELINE = changetype<Row<f32>>(HEIGHT_END);
const BASELINE_END: usize = HEIGHT_END + BEAT_BYTES;

export const WIDTH = changetype<Row<f32>>(BASELINE_END);
const WIDTH_END: usize = BASELINE_END + BEAT_BYTES;

/** By beat: its kind. */
export const KIND = changetype<Row<i32>>(WIDTH_END);
const KIND_END: usize = WIDTH_END + BEAT_BYTES;

/** By beat: whether the interval is regular. */
export const STEADY = changetype<Row<bool>>(KIND_END);
const STEADY_END: usize = KIND_END + BEAT_ROW;

/** By beat: whether its interval and the previous one are regular, and the height is credible. */
export const CLEAN = changetype<Row<bool>>(STEADY_END);
const CLEAN_END: usize = STEADY_END + BEAT_ROW;

/** By beat: median of the intervals around it. */
export const USUAL = changetype<Row<f32>>(CLEAN_END);
const USUAL_END: usize = CLEAN_END + BEAT_BYTES;

/** Seven values of four lanes that are sorted. */
export const SORT = changetype<Row<v128>>(USUAL_END);
const SORT_END: usize = USUAL_END + 7 * sizeof<v128>();

/** Values kept for a series, and their times. */
export const KEPT = changetype<Row<f32>>(SORT_END);
const KEPT_END: usize = SORT_END + BEAT_BYTES;

export const KEPT_TIME = changetype<Row<f32>>(KEPT_END);
const KEPT_TIME_END: usize = KEPT_END + BEAT_BYTES;

/** The series. */
export const SERIES = changetype<Row<v128>>(KEPT_TIME_END);
const SERIES_END: usize = KEPT_TIME_END + SERIES_BYTES;

/** Sums of two of their newest points each, without the drift. */
export const NEWEST = changetype<Row<v128>>(SERIES_END);
const NEWEST_END: usize = SERIES_END + (POINTS / 4) * sizeof<v128>();

export const NEWEST_MEAN = changetype<Row<v128>>(NEWEST_END);
const NEWEST_MEAN_END: usize = NEWEST_END + sizeof<v128>();

/** Their energy at the answered rate, and in all. */
export const SWING = changetype<Row<v128>>(NEWEST_MEAN_END);
const SWING_END: usize = NEWEST_MEAN_END + sizeof<v128>();

export const WHOLE = changetype<Row<v128>>(SWING_END);
const WHOLE_END: usize = SWING_END + sizeof<v128>();

/** Polynomials: of one degree less, and of this one. */
export const LOWER = changetype<Row<f32>>(WHOLE_END);
const LOWER_END: usize = WHOLE_END + POINTS_BYTES;

export const POLYNOMIAL = changetype<Row<f32>>(LOWER_END);
const POLYNOMIAL_END: usize = LOWER_END + POINTS_BYTES;

export const FFT_WORK = changetype<Row<v128>>(POLYNOMIAL_END);
const FFT_WORK_END: usize = POLYNOMIAL_END + SERIES_BYTES;

/** Real and imaginary part of each bin. */
export const FFT_OUT = changetype<Row<v128>>(FFT_WORK_END);
const FFT_OUT_END: usize = FFT_WORK_END + SERIES_BYTES;

export const POWER = changetype<Row<v128>>(FFT_OUT_END);
const POWER_END: usize = FFT_OUT_END + POINTS * sizeof<v128>();

/** By lane: mean amplitude of the noise at low and at high frequencies. */
export const LOW = changetype<Row<f32>>(POWER_END);
const LOW_END: usize = POWER_END + 16;

export const HIGH = changetype<Row<f32>>(LOW_END);
const HIGH_END: usize = LOW_END + 16;

/** By lane: mean amplitude of the drift in the spectrum. */
export const SLOWEST = changetype<Row<f32>>(HIGH_END);
const SLOWEST_END: usize = HIGH_END + 16;

/** By lane: least and greatest steepness of the noise. */
export const GENTLEST = changetype<Row<f32>>(SLOWEST_END);
const GENTLEST_END: usize = SLOWEST_END + 16;

export const STEEPEST = changetype<Row<f32>>(GENTLEST_END);
const STEEPEST_END: usize = GENTLEST_END + 16;

/** Coefficients of the powers 0 to 4 of frequency that whiten the noise. */
export const BLEND = changetype<Row<v128>>(STEEPEST_END);
const BLEND_END: usize = STEEPEST_END + 5 * sizeof<v128>();

/** Probability of each rate before the window is used. */
export const PREDICTED = changetype<Row<f32>>(BLEND_END);
export const BREATH_SCRATCH_END: usize = BLEND_END + RATES * sizeof<f32>();
