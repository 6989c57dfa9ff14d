import { Lead } from '../memory/ecg_state';
import { Row, rowOf } from '../memory/row';
import { KINDS, RHYTHM } from './tuning';

/**
 * The RR intervals of one window in order, and the confidence in them. The odds of a beat by its morphology
 * (evidence.ts) add up to what may be wrong with them.
 */

/** Most intervals of a window: 32 s at 195 bpm. */
const MAX_INTERVALS: i32 = 104;

/** An RR interval of the window. */
@unmanaged
export class Interval {
  seconds: f64;
  /** Odds against the beat that ends it, by its morphology. */
  odds: f64;
  /** Whether it follows the previous interval without a gap. */
  joined: bool;
  /** Whether it holds a flat line, or noise. */
  obscured: bool;
  /** Whether it holds a short flat line. */
  holds: bool;
}

/** The RR intervals of a window. */
@unmanaged
export class Intervals {
  /** Sum, seconds. */
  duration: f64;
  count: i32;
  /** Whether the next interval follows the last one without a gap. */
  joins: bool;
  list: Row<Interval> = rowOf<Interval>(MAX_INTERVALS);

  clear(): void {
    this.count = 0;
    this.duration = 0;
    this.joins = false;
  }

  /** Appends an interval, if it is one, and the odds against the beat that ends it, by its morphology. */
  add(seconds: f64, odds: f64, obscured: bool, holds: bool): void {
    const isOne = seconds > 0 && seconds < RHYTHM.LONGEST && this.count < MAX_INTERVALS;
    if (isOne) {
      const interval = this.list[this.count++];
      interval.seconds = seconds;
      interval.odds = odds;
      interval.joined = this.joins;
      interval.obscured = obscured;
      interval.holds = holds;
      this.duration += seconds;
    }
    this.joins = isOne;
  }
}

/** Probability that no interval of the window is wrong. */
export function allRight(intervals: Intervals): f64 {
  return Math.exp(-mayHide(intervals) - doubtOf(intervals));
}

/** Beats that are none, by their morphology. */
export function doubtOf(intervals: Intervals): f64 {
  let doubt: f64 = 0;
  for (let i = 0; i < intervals.count; i++) {
    const odds = intervals.list[i].odds;
    doubt += odds / (1 + odds);
  }
  return doubt;
}

/** Standard deviation of the intervals from those of the rhythm that fits best: of one interval, or of two or three in turns (bigeminy, trigeminy). */
export function irregularity(intervals: Intervals): f64 {
  let best = changeOver(intervals, 1);
  for (let lag = 2; lag <= 3 && lag + KINDS.ENOUGH <= intervals.count; lag++)
    best = Math.min(best, changeOver(intervals, lag));
  return best;
}

/** The same, by the changes over `lag` intervals. */
function changeOver(intervals: Intervals, lag: i32): f64 {
  let squares: f64 = 0;
  for (let i = lag; i < intervals.count; i++) {
    const change = intervals.list[i].seconds - intervals.list[i - lag].seconds;
    squares += change * change;
  }
  return Math.sqrt(squares / (2 * <f64>max(1, intervals.count - lag)));
}

/** Intervals that may hide a beat, or have one too many: where a flat line or noise may stand for a beat, or have made one. */
export function mayHide(intervals: Intervals): f64 {
  const usual = usualInterval(intervals);
  let count: f64 = 0;
  for (let i = 0; i < intervals.count; i++) {
    const interval = intervals.list[i];
    const isLong = interval.seconds > RHYTHM.HIDING * usual;
    const isShort = interval.seconds * RHYTHM.HIDING < usual;
    if (isLong ? interval.obscured || interval.holds : isShort && interval.obscured) count++;
  }
  return count;
}

/** Mean of the intervals that are not obscured; where all are, as in a coarse ECG, the shortest. */
function usualInterval(intervals: Intervals): f64 {
  let sum: f64 = 0;
  let count: f64 = 0;
  let shortest: f64 = Infinity;
  for (let i = 0; i < intervals.count; i++) {
    const interval = intervals.list[i];
    shortest = Math.min(shortest, interval.seconds);
    if (interval.obscured) continue;
    sum += interval.seconds;
    count++;
  }
  return count > 0 ? sum / count : shortest;
}

/** Whether the newest beats have a rhythm, even an irregular one, and do not come at random times. */
export function isRhythm(lead: Lead): bool {
  let n: f64 = 0;
  let sum: f64 = 0;
  let squares: f64 = 0;
  for (let number = max(lead.oldestBeat, lead.beatCount - RHYTHM.TELLING); number < lead.beatCount; number++) {
    const interval = <f64>lead.beatAt(number).interval;
    if (!(interval > 0)) continue;
    n++;
    sum += interval;
    squares += interval * interval;
  }
  if (n < 2) return true;
  const variation = Math.sqrt((Math.max(0, n * squares - sum * sum) * n) / (n - 1)) / sum;
  return variation < RHYTHM.RANDOM;
}
