import { MAX_MARKS } from '../memory/beats_state';
import { SCRATCH } from '../memory/map';
import { Row, rowAt } from '../memory/row';

/** Values of a row of intervals: each correction may add some. */
export const MAX_INTERVALS: i32 = 2 * MAX_MARKS;
const ROW_BYTES: usize = MAX_INTERVALS * 4;
const HEAD: usize = 16;

/** The intervals between the beats of a window, oldest first. */
@unmanaged
export class Intervals {
  count: i32;
  /** Mean quality of the beats. */
  quality: f32;
  /** Sum of the intervals, s. */
  duration: f32;

  /** Length, s. */
  get seconds(): Row<f32> {
    return rowAt<f32>(changetype<usize>(this) + HEAD);
  }

  /** Whether an interval does not follow the one before it directly: the first one, and those after missing data. */
  get begins(): Row<u8> {
    return rowAt<u8>(changetype<usize>(this) + HEAD + ROW_BYTES);
  }
}
const INTERVALS_BYTES: usize = HEAD + ROW_BYTES + MAX_INTERVALS;

export const INTERVALS = changetype<Intervals>(SCRATCH);
const ROWS: usize = SCRATCH + ((INTERVALS_BYTES + 15) & ~15);

/** Differences of an interval from the one before, and from the median about it, in parts of their thresholds. */
export const CHANGES = changetype<Row<f32>>(ROWS);
export const DEPARTURES = changetype<Row<f32>>(ROWS + ROW_BYTES);
/** Medians, and the thresholds of the departures. */
export const MEDIANS = changetype<Row<f32>>(ROWS + 2 * ROW_BYTES);
export const THRESHOLDS = changetype<Row<f32>>(ROWS + 3 * ROW_BYTES);
/** Values in order. */
export const ORDERED = changetype<Row<f32>>(ROWS + 4 * ROW_BYTES);
/** What an interval is (artefacts.ts). */
export const CLASSES = changetype<Row<u8>>(ROWS + 5 * ROW_BYTES);
export const BEATS_SCRATCH_END: usize = ROWS + 5 * ROW_BYTES + MAX_INTERVALS;
