import { SLOW_HZ } from '../memory/channel';
import { SCRATCH } from '../memory/map';
import { Row } from '../memory/row';
import { LAG_MAX } from './tuning';

/** Working arrays of one estimate, as a chain: each begins where the previous one ends. */

/** Grid samples of the window, 8 s. */
export const WINDOW: i32 = 256;
/** Grid samples of a second, and seconds of the window. */
export const SECOND: i32 = SLOW_HZ;
export const SECONDS: i32 = WINDOW / SECOND;
/** Grid samples before the window that slopes reach back to, up to whole vectors. */
const MARGIN: i32 = 8;

/** Sums over the slopes of a second, about their means. */
@unmanaged
export class SecondSums {
  /** Of red²; NaN in SUMS if less than half of the second has data. */
  red: f64;
  /** Of red x infrared. */
  both: f64;
  /** Of infrared². */
  infrared: f64;
  /** Of infrared² before its mean was subtracted. */
  whole: f64;
}

/** Sums over the accepted seconds. */
@unmanaged
export class Pooled {
  red: f64;
  both: f64;
  infrared: f64;
  /** Of the squares of each second's infrared. */
  squares: f64;
  whole: f64;
  /** Of the slopes over 1/4 s. */
  wideRed: f64;
  wideBoth: f64;
  wideInfrared: f64;
  /** Skewness of the infrared's slopes, either way. */
  skew: f64;
  /** Accepted seconds. */
  seconds: i32;
}

const WINDOW_BYTES: usize = WINDOW * sizeof<f32>();

/** One optical channel, and before it a margin. */
export const RAW = changetype<Row<f32>>(SCRATCH + MARGIN * sizeof<f32>());
const RAW_END: usize = SCRATCH + MARGIN * sizeof<f32>() + WINDOW_BYTES;

/** Slopes of the two optical channels. */
export const RED = changetype<Row<f32>>(RAW_END);
const RED_END: usize = RAW_END + WINDOW_BYTES;

export const INFRARED = changetype<Row<f32>>(RED_END);
const INFRARED_END: usize = RED_END + WINDOW_BYTES;

/** By second. */
export const SUMS = changetype<Row<SecondSums>>(INFRARED_END);
const SUMS_END: usize = INFRARED_END + SECONDS * offsetof<SecondSums>();

/** By second, of the slopes over 1/4 s. */
export const WIDE = changetype<Row<SecondSums>>(SUMS_END);
const WIDE_END: usize = SUMS_END + SECONDS * offsetof<SecondSums>();

export const POOLED = changetype<Pooled>(WIDE_END);
const POOLED_END: usize = WIDE_END + 80;

/** By lag: sum of x[i] x[i + lag]. */
export const PRODUCTS = changetype<Row<f64>>(POOLED_END);
export const SPO2_SCRATCH_END: usize = POOLED_END + (LAG_MAX + 1) * sizeof<f64>();
