import { MAX_MARKS } from '../memory/beats_state';
import { Row, rowOf } from '../memory/row';

/** Beats of a window: those that are kept, and as many that were missed. */
export const MAX_BEATS: i32 = 2 * MAX_MARKS;

/** The beats of a window, oldest first. */
@unmanaged
export class Beats {
  count: i32;
  /** Mean quality. */
  quality: f32;
  /** Part of the window that the intervals between them cover. */
  covered: f32;
  /** Seconds since the window's start. */
  times: Row<f32> = rowOf<f32>(MAX_BEATS);
  /** Whether the interval before a beat is unknown: before the first one, and after missing data. */
  begins: Row<u8> = rowOf<u8>(MAX_BEATS);

  /** Makes these beats those of `from`. */
  take(from: Beats): void {
    this.count = from.count;
    memory.copy(this.times.at(0), from.times.at(0), 4 * from.count);
    memory.copy(this.begins.at(0), from.begins.at(0), from.count);
  }
}

/** The beats as they were found, a copy that is corrected, and room for those after a step of the correction. */
export const FOUND = new Beats();
export const FIXED = new Beats();
export const CORRECTED = new Beats();

/** The interval before each beat, s; their mean where it is unknown. */
export const INTERVALS = rowOf<f32>(MAX_BEATS);
/** Differences of an interval from the one before, and from the median about it, in parts of their thresholds. */
export const CHANGES = rowOf<f32>(MAX_BEATS);
export const DEPARTURES = rowOf<f32>(MAX_BEATS);
/** Medians, and the thresholds of the departures. */
export const MEDIANS = rowOf<f32>(MAX_BEATS);
export const THRESHOLDS = rowOf<f32>(MAX_BEATS);
/** Values in order. */
export const ORDERED = rowOf<f32>(MAX_BEATS);
/** What a beat is (artefacts.ts). */
export const KINDS = rowOf<u8>(MAX_BEATS);
/** The same of the beats of which extra ones are gone, and missed ones are there. */
export const MOVES = rowOf<u8>(MAX_BEATS);
