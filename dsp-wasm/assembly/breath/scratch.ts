import { RATES } from '../memory/breath_state';
import { Row, rowAt, rowOf } from '../memory/row';

/** The records and working arrays of one estimate; their contents end with it. */

/** Window of the respiratory rate, seconds. */
export const RR_WINDOW: f64 = 32;
/** Rate of the series, Hz: enough for all rates that beats can show. */
export const SERIES_HZ: f64 = 4;
/** Points of a series: a window. */
export const POINTS: i32 = 128;
/** Maximum number of beats in a window: 32 s at 225 bpm. */
export const MAX_BEATS: i32 = 120;
/** Values of a column of beats: those, rounded up to whole cache lines. */
const COLUMN: i32 = 128;

/** The beats of a window, oldest first, with their common properties (beats.ts). Unknown values are NaN. */
@unmanaged
export class Beats {
  count: i32;
  /** Number of steady ones. */
  steadyCount: i32;
  /** Mean of the regular intervals, seconds; NaN for none. */
  meanInterval: f32;
  meanHeight: f32;
  /** Probability that they are beats, by the share of the clean ones: their interval and the previous one are regular. */
  trust: f32;
  /** Seconds from the window's end (negative). */
  time: Row<f32> = rowOf<f32>(COLUMN);
  /** Seconds since the previous beat. */
  interval: Row<f32> = rowOf<f32>(COLUMN);
  height: Row<f32> = rowOf<f32>(COLUMN);
  baseline: Row<f32> = rowOf<f32>(COLUMN);
  /** Kind of an ECG's beat. */
  kind: Row<i32> = rowOf<i32>(COLUMN);
  /** Whether the interval is regular. */
  steady: Row<bool> = rowOf<bool>(COLUMN);
}

/** Up to four series that breathing may modulate, one in each lane, and what they can show. */
@unmanaged
export class Series {
  /** Lanes that carry a series, all bits set. */
  lanes: v128;
  /** Standard deviation of what they hold beside breath, noise and drift. */
  resolution: v128;
  /** Number of points, even; the last one ends with the window. */
  n: i32;
  /** Rate of the beats that sample the breath, per minute; infinite where none do. */
  beatRate: f32;
  /** Probability that these are heartbeats. */
  beats: f32;
  /** Weight of their evidence, from 0 to 1. */
  share: f32;
  /** Probability that they come from a body at all, from 0 to 1. */
  trust: f32;
  points: Row<v128> = rowOf<v128>(POINTS);

  /** The points of a lane: point i is element 4 i. */
  lane(lane: i32): Row<f32> {
    return rowAt<f32>(this.points.at(0) + ((<usize>lane) << 2));
  }
}

/** Energy of the newest half of four series. */
@unmanaged
export class Energy {
  /** At the answered rate. */
  swing: v128;
  whole: v128;
}

export const BEATS = new Beats();
export const SERIES = new Series();
export const NEWEST = new Energy();

/** Grid samples of the longest stretch that is searched for pulses, including those before it, rounded up to whole vectors. */
const LONGEST: i32 = 1152;
/** A stretch of one sub-channel. */
export const RAW = changetype<Row<f32>>(memory.data(LONGEST * 4, 16));
/** Its mean over a second. */
export const MEAN = changetype<Row<f32>>(memory.data(LONGEST * 4, 16));
/** The same, band-passed. */
export const BAND = changetype<Row<f32>>(memory.data(LONGEST * 4, 16));
export const ENERGY = changetype<Row<f32>>(memory.data(LONGEST * 4, 16));
/** Mean energy over a systolic peak, and over a beat. */
export const NEAR = changetype<Row<f32>>(memory.data(LONGEST * 4, 16));
export const WIDE = changetype<Row<f32>>(memory.data(LONGEST * 4, 16));

/** The windowed series, and the work of their transform, which needs room for twice the points. */
export const WINDOWED = changetype<Row<v128>>(memory.data(2 * POINTS * 16, 16));
export const FFT_WORK = changetype<Row<v128>>(memory.data(2 * POINTS * 16, 16));
/** Real and imaginary part of each bin. */
export const FFT_OUT = changetype<Row<v128>>(memory.data(2 * POINTS * 16, 16));
/** Power of each bin. */
export const POWER = changetype<Row<v128>>(memory.data(2 * POINTS * 16, 16));
/** Share of all whitened power that a breath of the bin's rate explains. */
export const SHARE = changetype<Row<v128>>(memory.data(2 * POINTS * 16, 16));
/** Sums of the whitened power below each bin. */
export const BELOW = changetype<Row<v128>>(memory.data(2 * POINTS * 16, 16));

// Of the beats, before the transform (patterns.ts): their values, unknown ones as 0, 1 for each known one, and the weighted deviations
export const BEAT_VALUES = changetype<Row<v128>>(memory.data(POINTS * 16, 16));
export const BEAT_KNOWN = changetype<Row<v128>>(memory.data(POINTS * 16, 16));
export const DEVIATIONS = changetype<Row<v128>>(memory.data(POINTS * 16, 16));
export const WEIGHTS = changetype<Row<v128>>(memory.data(POINTS * 16, 16));
/** Means of each beat of a pattern over either half of a window. */
export const FIRST_HALF = changetype<Row<v128>>(memory.data(POINTS * 16, 16));
export const SECOND_HALF = changetype<Row<v128>>(memory.data(POINTS * 16, 16));

/** Values in order, of which the middle is a median. */
export const KEPT = changetype<Row<f32>>(memory.data(COLUMN * 4, 16));
/** Polynomials of the drift: of this degree, and of one less. */
export const POLYNOMIAL = changetype<Row<f32>>(memory.data(COLUMN * 4, 16));
export const LOWER = changetype<Row<f32>>(memory.data(COLUMN * 4, 16));
/** Likelihood of each rate. */
export const LIKELIHOOD = changetype<Row<f32>>(memory.data(RATES * 4, 16));
