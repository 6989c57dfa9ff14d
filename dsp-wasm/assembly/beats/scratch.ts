import { MAX_MARKS } from '../memory/beats_state';
import { SCRATCH } from '../memory/map';
import { Row, rowAt } from '../memory/row';

/** Beats of a window: those that are kept, and as many that were missed. */
export const MAX_BEATS: i32 = 2 * MAX_MARKS;
const ROW_BYTES: usize = MAX_BEATS * 4;
const HEAD: usize = 16;

/** The beats of a window, oldest first. */
@unmanaged
export class Beats {
  count: i32;
  /** Mean quality. */
  quality: f32;
  /** Part of the window that the intervals between them cover. */
  covered: f32;

  /** Seconds since the window's start. */
  get times(): Row<f32> {
    return rowAt<f32>(changetype<usize>(this) + HEAD);
  }

  /** Whether the interval before a beat is unknown: before the first one, and after missing data. */
  get begins(): Row<u8> {
    return rowAt<u8>(changetype<usize>(this) + HEAD + ROW_BYTES);
  }
}
const BEATS_BYTES: usize = (HEAD + ROW_BYTES + MAX_BEATS + 15) & ~15;

/** The beats as they were found, and room for those after a correction. */
export const FOUND = changetype<Beats>(SCRATCH);
export const CORRECTED = changetype<Beats>(SCRATCH + BEATS_BYTES);
const ROWS: usize = SCRATCH + 2 * BEATS_BYTES;

/** The interval before each beat, s; their mean where it is unknown. */
export const INTERVALS = changetype<Row<f32>>(ROWS);
/** Differences of an interval from the one before, and from the median about it, in parts of their thresholds. */
export const CHANGES = changetype<Row<f32>>(ROWS + ROW_BYTES);
export const DEPARTURES = changetype<Row<f32>>(ROWS + 2 * ROW_BYTES);
/** Medians, and the thresholds of the departures. */
export const MEDIANS = changetype<Row<f32>>(ROWS + 3 * ROW_BYTES);
export const THRESHOLDS = changetype<Row<f32>>(ROWS + 4 * ROW_BYTES);
/** Values in order. */
export const ORDERED = changetype<Row<f32>>(ROWS + 5 * ROW_BYTES);
/** What a beat is (artefacts.ts). */
export const KINDS = changetype<Row<u8>>(ROWS + 6 * ROW_BYTES);
/** The same of the beats of which extra ones are gone, and missed ones are there. */
export const MOVES = changetype<Row<u8>>(ROWS + 6 * ROW_BYTES + MAX_BEATS);
export const BEATS_SCRATCH_END: usize = ROWS + 6 * ROW_BYTES + 2 * MAX_BEATS;
