import { insert, quantile, remove } from '../math/order';
import { Row } from '../memory/row';
import {
  Beats,
  CHANGES,
  CORRECTED,
  DEPARTURES,
  INTERVALS,
  KINDS,
  MAX_BEATS,
  MEDIANS,
  MOVES,
  ORDERED,
  THRESHOLDS,
} from './scratch';
import { ARTEFACT } from './tuning';
import { intervalsOf } from './window';

/**
 * Correction of missed, extra, misplaced and ectopic beats (J. A. Lipponen and M. P. Tarvainen, A robust algorithm for heart rate variability
 * time series artefact correction using novel beat classification, J. Med. Eng. Technol. 43(3):173-181, 2019). Each interval's change from
 * the one before, and its departure from the median, are compared with thresholds of their own variation.
 */

enum Kind {
  NORMAL,
  /** Early, and made up for by a pause: it is moved to the middle of its neighbours. */
  ECTOPIC,
  /** After an interval that is too long or short otherwise: the same. */
  MISPLACED,
  /** No beat. */
  EXTRA,
  /** A beat is missing before it. */
  MISSED,
}

/**
 * Corrects the beats until no correction leaves fewer artefacts; returns the number of those found in the first place.
 * @param alpha thresholds, in quartile deviations
 */
export function correct(beats: Beats, alpha: f32): i32 {
  const found = classify(beats, alpha);
  let left = found;
  while (left > 0) {
    apply(beats, CORRECTED);
    beats.take(CORRECTED);
    const now = classify(beats, alpha);
    if (now >= left) break;
    left = now;
  }
  return found;
}

/** Writes KINDS; returns the number of artefacts. */
function classify(beats: Beats, alpha: f32): i32 {
  const count = beats.count;
  measure(beats, alpha);
  memory.fill(KINDS.at(0), <u8>Kind.NORMAL, count);
  let found = 0;
  for (let i = 0; i + 2 < count; i++) {
    if (abs(CHANGES[i]) <= 1) continue;
    if (isEctopic(i)) {
      KINDS[i] = <u8>Kind.ECTOPIC;
      found++;
      continue;
    }
    const both = abs(CHANGES[i + 1]) < abs(CHANGES[i + 2]);
    found += judge(count, i);
    if (both) found += judge(count, ++i);
  }
  return found;
}

/** Whether a change is made up for by those beside it. */
function isEctopic(i: i32): bool {
  const change = CHANGES[i];
  const before = CHANGES[abs(i - 1)];
  const after = CHANGES[i + 1];
  if (change > 0) return max(before, after) < -ARTEFACT.SLOPE * change - ARTEFACT.OFFSET;
  return min(before, after) > -ARTEFACT.SLOPE * change + ARTEFACT.OFFSET;
}

/** Classifies a beat by the interval before it, which may be long or short; returns the number of artefacts. */
function judge(count: i32, i: i32): i32 {
  const change = CHANGES[i];
  const next = CHANGES[i + 1];
  const later = i + 2 < count ? CHANGES[i + 2] : CHANGES[i];
  const isLong = change > 1 && min(next, later) < -1;
  const isShort = change < -1 && max(next, later) > 1;
  if (!isLong && !isShort && abs(DEPARTURES[i]) <= ARTEFACT.FAR) return 0;
  const bound = THRESHOLDS[i];
  const isExtra = isShort && abs(INTERVALS[i] + INTERVALS[i + 1] - MEDIANS[i]) < bound;
  const isMissed = isLong && abs(INTERVALS[i] / 2 - MEDIANS[i]) < bound;
  KINDS[i] = <u8>(isExtra ? Kind.EXTRA : isMissed ? Kind.MISSED : Kind.MISPLACED);
  return 1;
}

/** Writes INTERVALS, CHANGES, DEPARTURES, MEDIANS and THRESHOLDS. */
function measure(beats: Beats, alpha: f32): void {
  const count = beats.count;
  intervalsOf(beats, INTERVALS);
  for (let i = 0; i < count; i++) {
    CHANGES[i] = i === 0 ? (INTERVALS[count - 1] - INTERVALS[0]) / <f32>(count - 1) : INTERVALS[i] - INTERVALS[i - 1];
    let held = 0;
    for (let k = max(0, i - ARTEFACT.HALF_MEDIAN); k <= min(count - 1, i + ARTEFACT.HALF_MEDIAN); k++)
      held = insert(ORDERED, held, INTERVALS[k]);
    MEDIANS[i] = quantile(ORDERED, held, 0.5);
    const departure = INTERVALS[i] - MEDIANS[i];
    DEPARTURES[i] = departure < 0 ? 2 * departure : departure;
  }
  scale(CHANGES, count, alpha);
  scale(DEPARTURES, count, alpha);
}

/** Divides values by their thresholds, which it leaves in THRESHOLDS: quartile deviations of their magnitudes about each. */
function scale(values: Row<f32>, count: i32, alpha: f32): void {
  let held = 0;
  let past = 0;
  for (let i = 0; i < count; i++) {
    for (; past < min(count, i + ARTEFACT.HALF_WINDOW + 1); past++) held = insert(ORDERED, held, abs(values[past]));
    const gone = i - ARTEFACT.HALF_WINDOW - 1;
    if (gone >= 0) held = remove(ORDERED, held, abs(values[gone]));
    THRESHOLDS[i] = (alpha / 2) * (quantile(ORDERED, held, 0.75) - quantile(ORDERED, held, 0.25));
  }
  // Without any variation nothing is far
  for (let i = 0; i < count; i++) values[i] = THRESHOLDS[i] > 0 ? values[i] / THRESHOLDS[i] : 0;
}

/** Writes the beats as they are after the corrections that KINDS says: first of extra and missed ones, then of ectopic and misplaced ones. */
function apply(beats: Beats, to: Beats): void {
  const times = beats.times;
  let count = 0;
  for (let i = 0; i < beats.count && count < MAX_BEATS; i++) {
    const kind = KINDS[i];
    const isInner = i > 1 && !beats.begins[i];
    if (kind === <u8>Kind.EXTRA) continue;
    if (kind === <u8>Kind.MISSED && isInner && count + 1 < MAX_BEATS) {
      to.times[count] = (times[i - 1] + times[i]) / 2;
      to.begins[count] = 0;
      MOVES[count++] = <u8>Kind.NORMAL;
    }
    to.times[count] = times[i];
    to.begins[count] = beats.begins[i];
    MOVES[count++] = kind;
  }
  to.count = count;
  move(to, <u8>Kind.ECTOPIC);
  move(to, <u8>Kind.MISPLACED);
}

/** Moves the beats of a kind to the middle of their neighbours as these are. */
function move(beats: Beats, kind: u8): void {
  const times = beats.times;
  let before = times[0];
  for (let i = 1; i + 1 < beats.count; i++) {
    const own = times[i];
    const isInner = i > 1 && !beats.begins[i] && !beats.begins[i + 1];
    if (MOVES[i] === kind && isInner) times[i] = (before + times[i + 1]) / 2;
    before = own;
  }
}
