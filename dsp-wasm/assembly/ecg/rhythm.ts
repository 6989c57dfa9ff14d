import { EcgState } from '../memory/ecg_state';
import { INTERVAL_LIST, INTERVALS, Interval, MAX_INTERVALS } from './scratch';
import {
  FREE_SURPRISE,
  HIDING_SHARE,
  IRREGULAR,
  LONGEST_INTERVAL,
  LONGEST_R_TO_T,
  MOST_OTHERS,
  MOST_SURPRISE,
  OBSCURED_DOUBT,
  RANDOM,
  STEADINESS,
  TELLING_INTERVALS,
  UNEQUAL,
  WEIGHT_AGAINST,
  WEIGHT_FOR,
} from './tuning';

/**
 * The RR intervals of one window in order (INTERVALS), and the confidence in them. The odds of a beat by its morphology
 * (evidence.ts) are corrected for the rhythm: they fall if the two intervals of the beat are more surprising than the one
 * interval without it, and rise if they are less surprising.
 */

export function clearIntervals(): void {
  INTERVALS.count = 0;
  INTERVALS.duration = 0;
  INTERVALS.joins = false;
}

/** Appends an interval, if it is one, and the odds against the beat that ends it, by its morphology. */
export function addInterval(seconds: f64, odds: f64, obscured: bool, holds: bool): void {
  const isOne = seconds > 0 && seconds < LONGEST_INTERVAL && INTERVALS.count < MAX_INTERVALS;
  if (isOne) {
    const interval = INTERVAL_LIST[INTERVALS.count++];
    interval.seconds = seconds;
    interval.odds = odds;
    interval.joined = INTERVALS.joins;
    interval.obscured = obscured;
    interval.holds = holds;
    INTERVALS.duration += seconds;
  }
  INTERVALS.joins = isOne;
}

/** Probability that no interval of the window is wrong. */
export function allRight(): f64 {
  if (alternates()) return 0;
  const period = INTERVALS.duration / <f64>INTERVALS.count;
  const usual = usualInterval();
  let doubt: f64 = 0;
  for (let i = 0; i < INTERVALS.count; i++) {
    const against = INTERVAL_LIST[i].odds * Math.exp(misfit(i, period));
    doubt += against / (1 + against);
    if (mayHide(INTERVAL_LIST[i], usual)) doubt += OBSCURED_DOUBT;
  }
  return Math.exp(-doubt);
}

/** Whether short and long intervals take turns as those from R waves to peaked T waves, and from these to R waves, do. */
function alternates(): bool {
  let others = 0;
  for (let i = 1; i < INTERVALS.count; i++) {
    const one = INTERVAL_LIST[i - 1].seconds;
    const next = INTERVAL_LIST[i].seconds;
    const shorter = Math.min(one, next);
    if (shorter > LONGEST_R_TO_T || Math.max(one, next) < UNEQUAL * shorter) others++;
  }
  return INTERVALS.count > MOST_OTHERS + 2 && others <= MOST_OTHERS;
}

/** Mean of the intervals that are not obscured; where all are, as in a coarse ECG, the shortest. */
function usualInterval(): f64 {
  let sum: f64 = 0;
  let count: f64 = 0;
  let shortest: f64 = Infinity;
  for (let i = 0; i < INTERVALS.count; i++) {
    const interval = INTERVAL_LIST[i];
    shortest = Math.min(shortest, interval.seconds);
    if (interval.obscured) continue;
    sum += interval.seconds;
    count++;
  }
  return count > 0 ? sum / count : shortest;
}

/** Whether a flat line or noise may stand for a beat, since the interval is too long, or have made one, since it is too short. */
function mayHide(interval: Interval, usual: f64): bool {
  if (interval.seconds > HIDING_SHARE * usual) return interval.obscured || interval.holds;
  return interval.obscured && interval.seconds * HIDING_SHARE < usual;
}

/** 1 if the newest beats have a rhythm, even an irregular one; 0 if they come at random times. */
export function isRhythm(ecg: EcgState): f64 {
  let n: f64 = 0;
  let sum: f64 = 0;
  let squares: f64 = 0;
  for (let number = max(ecg.oldestBeat, ecg.beatCount - TELLING_INTERVALS); number < ecg.beatCount; number++) {
    const interval = <f64>ecg.beatAt(number).interval;
    if (!(interval > 0)) continue;
    n++;
    sum += interval;
    squares += interval * interval;
  }
  if (n < 2) return 1;
  const variation = Math.sqrt((Math.max(0, n * squares - sum * sum) * n) / (n - 1)) / sum;
  return Math.max(0, Math.min(1, (RANDOM - variation) / (RANDOM - IRREGULAR)));
}

/** Log odds from the rhythm against the beat between interval i and the next one. */
function misfit(i: i32, period: f64): f64 {
  if (i + 1 === INTERVALS.count || !INTERVAL_LIST[i + 1].joined) return 0;
  const before = INTERVAL_LIST[i].seconds;
  const after = INTERVAL_LIST[i + 1].seconds;
  const excess = surprise(before, period) + surprise(after, period) - surprise(before + after, period);
  return excess > 0 ? WEIGHT_AGAINST * Math.max(0, excess - FREE_SURPRISE) : WEIGHT_FOR * excess;
}

function surprise(interval: f64, period: f64): f64 {
  const d = interval - period;
  return Math.min(MOST_SURPRISE, (STEADINESS * d * d) / (interval * period));
}
