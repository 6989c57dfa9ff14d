import { total } from '../math/vector';
import { SLOW_HZ } from '../memory/channel';
import { Row } from '../memory/row';
import { RATIO } from './tuning';

/** Grid samples of the window, 8 s. */
export const WINDOW: i32 = 256;
/** Grid samples of a second, and seconds of the window. */
export const SECOND: i32 = SLOW_HZ;
export const SECONDS: i32 = WINDOW / SECOND;

/** Sums over slopes, about the means of their seconds. */
@unmanaged
export class Sums {
  /** Of red²; NaN if less than half of the second has data. */
  red: f64;
  /** Of red x infrared. */
  both: f64;
  /** Of infrared². */
  infrared: f64;
  /** Of infrared² before its mean was subtracted. */
  whole: f64;

  clear(): void {
    this.red = 0;
    this.both = 0;
    this.infrared = 0;
    this.whole = 0;
  }

  add(other: Sums): void {
    this.red += other.red;
    this.both += other.both;
    this.infrared += other.infrared;
    this.whole += other.whole;
  }
}

/** Sums over the accepted seconds. */
@unmanaged
export class Pooled {
  /** Of the slopes over 1/8 s, and over 1/4 s. */
  near: Sums = new Sums();
  wide: Sums = new Sums();
  /** Of the squares of each second's infrared. */
  squares: f64;
  /** Accepted seconds. */
  seconds: i32;
  /** Sums of their mean levels. */
  redLevel: f64;
  infraredLevel: f64;
}

/** Mean of the existing ones of so many values; NaN if there is none. */
export function meanOf(row: Row<f32>, length: i32): f64 {
  let sum = f32x4.splat(0);
  let count = sum;
  for (let i = 0; i < length; i += 4) {
    const v = v128.load(row.at(i));
    const known = f32x4.eq(v, v);
    sum = f32x4.add(sum, v128.and(v, known));
    count = f32x4.add(count, v128.and(f32x4.splat(1), known));
  }
  return total(sum) / total(count);
}

/**
 * Share of a channel's steps from one grid sample to the next that are none. The light of a living finger changes all the time, so a channel that
 * rests is at the end of its range, or its pulse is only a few counts high. Either changes the size of the pulse in this channel, and so R.
 */
export function flatShare(raw: Row<f32>): f64 {
  let flat = i32x4.splat(0);
  let known = flat;
  for (let i = 4; i < WINDOW; i += 4) {
    const v = v128.load(raw.at(i));
    const step = f32x4.sub(v, v128.load(raw.at(i - 1)));
    // True is -1
    known = i32x4.sub(known, f32x4.eq(step, step));
    flat = i32x4.sub(flat, f32x4.le(f32x4.abs(step), f32x4.mul(f32x4.abs(v), f32x4.splat(RATIO.ROUNDING))));
  }
  return <f64>sumOf(flat) / <f64>max(1, sumOf(known));
}

function sumOf(counts: v128): i32 {
  const pairs = i32x4.add(counts, v128.shuffle<i32>(counts, counts, 2, 3, 0, 1));
  return i32x4.extract_lane(pairs, 0) + i32x4.extract_lane(pairs, 1);
}
