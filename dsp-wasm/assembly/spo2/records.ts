import { SLOW_HZ } from '../memory/channel';

/** The records that pass from step to step of one estimate. */

/** Grid samples of the window, 8 s. */
export const WINDOW: i32 = 256;
/** Grid samples of a second, and seconds of the window. */
export const SECOND: i32 = SLOW_HZ;
export const SECONDS: i32 = WINDOW / SECOND;
/** Sums over the slopes of a second, about their means. */
@unmanaged
export class SecondSums {
  /** Of red²; NaN if less than half of the second has data. */
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
  /** Accepted seconds. */
  seconds: i32;
}
