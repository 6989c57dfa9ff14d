import { RATES } from '../memory/breath_state';
import { SCRATCH } from '../memory/map';
import { Row, rowAt } from '../memory/row';

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
const COLUMN_BYTES: usize = COLUMN * sizeof<f32>();

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
  get time(): Row<f32> {
    return rowAt<f32>(changetype<usize>(this) + BEATS_HEAD);
  }

  /** Seconds since the previous beat. */
  get interval(): Row<f32> {
    return rowAt<f32>(changetype<usize>(this) + BEATS_HEAD + COLUMN_BYTES);
  }

  get height(): Row<f32> {
    return rowAt<f32>(changetype<usize>(this) + BEATS_HEAD + 2 * COLUMN_BYTES);
  }

  get baseline(): Row<f32> {
    return rowAt<f32>(changetype<usize>(this) + BEATS_HEAD + 3 * COLUMN_BYTES);
  }

  /** Kind of an ECG's beat. */
  get kind(): Row<i32> {
    return rowAt<i32>(changetype<usize>(this) + BEATS_HEAD + 4 * COLUMN_BYTES);
  }

  /** Whether the interval is regular. */
  get steady(): Row<bool> {
    return rowAt<bool>(changetype<usize>(this) + BEATS_HEAD + 5 * COLUMN_BYTES);
  }
}
const BEATS_HEAD: usize = (offsetof<Beats>() + 15) & ~15;
const BEATS_BYTES: usize = BEATS_HEAD + 6 * COLUMN_BYTES;

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

  /** The points, and room for a transform of twice as many. */
  get points(): Row<v128> {
    return rowAt<v128>(changetype<usize>(this) + offsetof<Series>());
  }

  /** The points of a lane: point i is element 4 i. */
  lane(lane: i32): Row<f32> {
    return rowAt<f32>(changetype<usize>(this) + offsetof<Series>() + ((<usize>lane) << 2));
  }
}
const SERIES_BYTES: usize = offsetof<Series>() + POINTS * sizeof<v128>();

/** Energy of the newest half of four series. */
@unmanaged
export class Energy {
  /** At the answered rate. */
  swing: v128;
  whole: v128;
}

/** Grid samples of the longest stretch that is searched for pulses, including those before it, rounded up to whole vectors. */
const LONGEST_BYTES: usize = 1152 * sizeof<f32>();
/** A transform needs room for twice the points. */
const TRANSFORM_BYTES: usize = 2 * POINTS * sizeof<v128>();

/** A stretch of one sub-channel. */
export const RAW = changetype<Row<f32>>(SCRATCH);
/** Its mean over a second. */
export const MEAN = changetype<Row<f32>>(SCRATCH + LONGEST_BYTES);
/** The same, band-passed. */
export const BAND = changetype<Row<f32>>(SCRATCH + 2 * LONGEST_BYTES);
export const ENERGY = changetype<Row<f32>>(SCRATCH + 3 * LONGEST_BYTES);
/** Mean energy over a systolic peak, and over a beat. */
export const NEAR = changetype<Row<f32>>(SCRATCH + 4 * LONGEST_BYTES);
export const WIDE = changetype<Row<f32>>(SCRATCH + 5 * LONGEST_BYTES);

export const BEATS = changetype<Beats>(SCRATCH + 6 * LONGEST_BYTES);
const BEATS_END: usize = SCRATCH + 6 * LONGEST_BYTES + BEATS_BYTES;
export const SERIES = changetype<Series>(BEATS_END);
export const NEWEST = changetype<Energy>(BEATS_END + SERIES_BYTES);

/** The windowed series, and the work of their transform. */
export const WINDOWED = changetype<Row<v128>>(BEATS_END + SERIES_BYTES + 32);
const WINDOWED_END: usize = BEATS_END + SERIES_BYTES + 32 + TRANSFORM_BYTES;
export const FFT_WORK = changetype<Row<v128>>(WINDOWED_END);
/** Real and imaginary part of each bin. */
export const FFT_OUT = changetype<Row<v128>>(WINDOWED_END + TRANSFORM_BYTES);
/** Power of each bin. */
export const POWER = changetype<Row<v128>>(WINDOWED_END + 2 * TRANSFORM_BYTES);
/** Share of all whitened power that a breath of the bin's rate explains. */
export const SHARE = changetype<Row<v128>>(WINDOWED_END + 3 * TRANSFORM_BYTES);
/** Sums of the whitened power below each bin. */
export const BELOW = changetype<Row<v128>>(WINDOWED_END + 4 * TRANSFORM_BYTES);
const POWER_END: usize = WINDOWED_END + 5 * TRANSFORM_BYTES;

// Of the beats, before the transform (patterns.ts): their values, unknown ones as 0, 1 for each known one, and the weighted deviations
export const BEAT_VALUES = changetype<Row<v128>>(WINDOWED_END);
export const BEAT_KNOWN = changetype<Row<v128>>(WINDOWED_END + TRANSFORM_BYTES / 2);
export const DEVIATIONS = changetype<Row<v128>>(WINDOWED_END + TRANSFORM_BYTES);
export const WEIGHTS = changetype<Row<v128>>(WINDOWED_END + TRANSFORM_BYTES + TRANSFORM_BYTES / 2);
/** Means of each beat of a pattern over either half of a window. */
export const FIRST_HALF = changetype<Row<v128>>(WINDOWED_END + 2 * TRANSFORM_BYTES);
export const SECOND_HALF = changetype<Row<v128>>(WINDOWED_END + 3 * TRANSFORM_BYTES);

/** Values in order, of which the middle is a median. */
export const KEPT = changetype<Row<f32>>(POWER_END);
/** Polynomials of the drift: of this degree, and of one less. */
export const POLYNOMIAL = changetype<Row<f32>>(POWER_END + COLUMN_BYTES);
export const LOWER = changetype<Row<f32>>(POWER_END + 2 * COLUMN_BYTES);
/** Likelihood of each rate. */
export const LIKELIHOOD = changetype<Row<f32>>(POWER_END + 3 * COLUMN_BYTES);
export const BREATH_SCRATCH_END: usize = POWER_END + 3 * COLUMN_BYTES + RATES * sizeof<f32>();
