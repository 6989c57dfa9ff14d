import { Row } from '../memory/row';
import { insert, quantile, remove } from './order';
import { CHANGES, CLASSES, DEPARTURES, Intervals, MAX_INTERVALS, MEDIANS, ORDERED, THRESHOLDS } from './scratch';
import { ARTEFACT } from './tuning';

/**
 * Correction of missed, extra, misplaced and ectopic beats (J. A. Lipponen and M. P. Tarvainen, A robust algorithm for heart rate variability
 * time series artefact correction using novel beat classification, J. Med. Eng. Technol. 43(3):173-181, 2019). Each interval's change from
 * the one before, and its departure from the median, are compared with thresholds of their own variation. It works on intervals instead of times:
 * each correction leaves their sum as it is.
 */

/** What an interval, or the beat at its end, is. */
enum Kind {
  NORMAL,
  /** The beat is early or late, or misplaced: it is moved to the middle of its neighbours. */
  MOVED,
  /** The beat is none. */
  EXTRA,
  /** A beat is missing in the interval. */
  MISSED,
}

/** Corrects the intervals until no correction leaves fewer artefacts; returns the number of those found in the first place. */
export function correct(intervals: Intervals): i32 {
  const found = classify(intervals);
  let left = found;
  while (left > 0) {
    apply(intervals);
    const now = classify(intervals);
    if (now >= left) break;
    left = now;
  }
  return found;
}

/** Writes CLASSES; returns the number of artefacts. */
function classify(intervals: Intervals): i32 {
  const count = intervals.count;
  measure(intervals);
  memory.fill(CLASSES.at(0), <u8>Kind.NORMAL, count);
  let found = 0;
  for (let i = 0; i + 2 < count; i++) {
    if (CLASSES[i] !== <u8>Kind.NORMAL || abs(CHANGES[i]) <= 1) continue;
    if (isEctopic(i)) {
      CLASSES[i] = <u8>Kind.MOVED;
      found++;
      continue;
    }
    found += judge(intervals, i);
    if (abs(CHANGES[i + 1]) < abs(CHANGES[i + 2])) found += judge(intervals, i + 1);
  }
  return found;
}

/** Whether a beat's change is made up for by its neighbours'. */
function isEctopic(i: i32): bool {
  const change = CHANGES[i];
  const before = i > 0 ? CHANGES[i - 1] : CHANGES[1];
  const after = CHANGES[i + 1];
  if (change > 0) return max(before, after) < -ARTEFACT.SLOPE * change - ARTEFACT.OFFSET;
  return min(before, after) > -ARTEFACT.SLOPE * change + ARTEFACT.OFFSET;
}

/** Classifies an interval that is long or short; returns the number of artefacts. */
function judge(intervals: Intervals, i: i32): i32 {
  const change = CHANGES[i];
  const next = CHANGES[i + 1];
  const later = i + 2 < intervals.count ? CHANGES[i + 2] : next;
  const isLong = change > 1 && min(next, later) < -1;
  const isShort = change < -1 && max(next, later) > 1;
  if (!isLong && !isShort && abs(DEPARTURES[i]) <= ARTEFACT.FAR) return 0;
  const seconds = intervals.seconds;
  const bound = THRESHOLDS[i];
  const isExtra = isShort && abs(seconds[i] + seconds[i + 1] - MEDIANS[i]) < bound;
  const isMissed = isLong && abs(seconds[i] / 2 - MEDIANS[i]) < bound;
  CLASSES[i] = <u8>(isExtra ? Kind.EXTRA : isMissed ? Kind.MISSED : Kind.MOVED);
  return 1;
}

/** Writes CHANGES, DEPARTURES, MEDIANS and THRESHOLDS. */
function measure(intervals: Intervals): void {
  const seconds = intervals.seconds;
  const count = intervals.count;
  for (let i = 0; i < count; i++) {
    CHANGES[i] = intervals.begins[i] ? 0 : seconds[i] - seconds[i - 1];
    let held = 0;
    for (let k = max(0, i - ARTEFACT.HALF_MEDIAN); k <= min(count - 1, i + ARTEFACT.HALF_MEDIAN); k++)
      held = insert(ORDERED, held, seconds[k]);
    MEDIANS[i] = quantile(ORDERED, held, 0.5);
    const departure = seconds[i] - MEDIANS[i];
    DEPARTURES[i] = departure < 0 ? 2 * departure : departure;
  }
  scale(CHANGES, count);
  scale(DEPARTURES, count);
}

/** Divides values by their thresholds, which it leaves in THRESHOLDS: quartile deviations of their magnitudes about each. */
function scale(values: Row<f32>, count: i32): void {
  let held = 0;
  let past = 0;
  for (let i = 0; i < count; i++) {
    for (; past < min(count, i + ARTEFACT.HALF_WINDOW + 1); past++) held = insert(ORDERED, held, abs(values[past]));
    const gone = i - ARTEFACT.HALF_WINDOW - 1;
    if (gone >= 0) held = remove(ORDERED, held, abs(values[gone]));
    THRESHOLDS[i] = (ARTEFACT.ALPHA / 2) * (quantile(ORDERED, held, 0.75) - quantile(ORDERED, held, 0.25));
  }
  for (let i = 0; i < count; i++) values[i] = values[i] === 0 ? 0 : values[i] / THRESHOLDS[i];
}

/** Corrects what CLASSES says, from the newest interval on, so that the older ones keep their places. */
function apply(intervals: Intervals): void {
  const seconds = intervals.seconds;
  const begins = intervals.begins;
  for (let i = intervals.count - 1; i >= 0; i--) {
    const kind = CLASSES[i];
    const hasNext = i + 1 < intervals.count && !begins[i + 1];
    if (kind === <u8>Kind.MISSED && intervals.count < MAX_INTERVALS) {
      open(intervals, i);
      seconds[i] /= 2;
      seconds[i + 1] = seconds[i];
      begins[i + 1] = 0;
    } else if (kind === <u8>Kind.EXTRA && hasNext) {
      seconds[i + 1] += seconds[i];
      close(intervals, i);
    } else if (kind === <u8>Kind.MOVED && hasNext) {
      seconds[i] = (seconds[i] + seconds[i + 1]) / 2;
      seconds[i + 1] = seconds[i];
    }
  }
}

/** Makes place for one more interval after interval i. */
function open(intervals: Intervals, i: i32): void {
  const after = intervals.count - i - 1;
  memory.copy(intervals.seconds.at(i + 2), intervals.seconds.at(i + 1), (<usize>after) << 2);
  memory.copy(intervals.begins.at(i + 2), intervals.begins.at(i + 1), after);
  intervals.count++;
}

/** Takes interval i out; the next one then begins as it did. */
function close(intervals: Intervals, i: i32): void {
  const after = intervals.count - i - 1;
  intervals.begins[i + 1] = intervals.begins[i];
  memory.copy(intervals.seconds.at(i), intervals.seconds.at(i + 1), (<usize>after) << 2);
  memory.copy(intervals.begins.at(i), intervals.begins.at(i + 1), after);
  intervals.count--;
}
