import { RATES } from '../memory/breath_state';

/** Bins of the spectra are 4 Hz / 256 = 0.9375 per minute apart. */
export const BIN_PER_MINUTE: f32 = 0.9375;
/** Bins of the lowest and of the highest rate that is followed: 3.75 and 90 per minute. */
export const FIRST: i32 = 4;
export const LAST: i32 = FIRST + RATES - 1;

// Where the series come from; each has a tracker.
export const FROM_PPG: i32 = 0;
export const FROM_ECG: i32 = 1;
export const FROM_EFFORT: i32 = 2;

/** Bins on each side of a rate's bin over which a breath of about that rate spreads, as breaths vary in proportion to their length. */
export function spreadOf(bin: i32): i32 {
  return max(0, (bin - 20) >> 3);
}
