import { addInterval, allRight, clearIntervals, duration, intervals, isRhythm } from './ecg_rhythm';
import { bestEnd, candidateAfter, firstUndecided } from './beat_path';
import { BEAT_AMPLITUDE, BEAT_INTERVAL, BEAT_QUALITY, BEAT_TIME, beatCount, beatOf, oldestBeat } from './beats';
import {
  CANDIDATE_CELL,
  CANDIDATE_EMPTY,
  CANDIDATE_EVIDENCE,
  candidateOf,
  ECG_EMPTY,
  ECG_FIT,
  ECG_LAST_BEAT,
  ECG_LAST_TIME,
  ECG_LEAD,
  ECG_SHIFT,
  LEAD_OFFSET,
  leadOf,
} from './ecg_state';
import { topOf } from './evidence';
import { CH_OFFSET, ECG_HZ, KIND_ECG, OUT_CONFIDENCE, OUT_VALUE, SCRATCH } from './layout';
import { newestPeak } from './rpeaks';
import { channelOfKind } from './session';
import { copyCells } from './window';

/** Window of the heart rate, seconds. */
const WINDOW: f64 = 8;
/** Shift of the level from which beats are stairs; up to 0.2 less they may be beats. */
const MOST_SHIFT: f64 = 0.8;

/** Closest that a peak may follow another, cells (0.24 s). */
const CLOSEST: i32 = 31;

/** Time of the newest R peak, seconds. */
let newest: f64 = 0;

/**
 * Heart rate of the 8 s before `end` (seconds): 60 over the mean of the RR intervals between the R peaks in it, decided or
 * still open. Writes OUT_VALUE and OUT_CONFIDENCE; 1, or 0 where there is no interval.
 */
export function estimateHrEcg(slot: usize, end: f64): i32 {
  clearIntervals();
  addDecided(slot, end - WINDOW);
  addOpen(slot);
  if (!intervals) return 0;
  store<f64>(slot + OUT_VALUE, (60 * <f64>intervals) / duration);
  const goesOn = stillBeating(end - newest, duration / <f64>intervals);
  store<f64>(slot + OUT_CONFIDENCE, allRight() * isRhythm(slot) * likeEcg(slot) * goesOn * resolved(slot));
  return 1;
}

/**
 * Probability that it is an ECG at all. Noise, too, has its greatest peaks, and a template made of them: but they fit it
 * with 0.6 to 0.76 of their norm (white, muscle, railing), QRS complexes with 0.85 and more in 6 dB of noise. And a lead
 * comes back to its level after a QRS complex, which stairs and rounded drifts do not: the beats' shift is below 0.2 in
 * a quiet lead, 0.4 in electrode motion of 6 dB, 0.9 and more there.
 */
function likeEcg(slot: usize): f64 {
  const fit = <f64>load<f32>(slot + ECG_FIT);
  const returns = (MOST_SHIFT - <f64>load<f32>(slot + ECG_SHIFT)) * 5;
  return Math.max(0, Math.min(1, returns)) * (fit > 0 ? 1 / (1 + Math.exp((0.79 - fit) / 0.025)) : 0.5);
}

/** Least size of a QRS complex, in parts of the level that it stands on, and of the offset that was taken off before. */
const LEAST_OF_LEVEL: f64 = 1e-4;
const LEAST_OF_OFFSET: f64 = 4e-7;

/**
 * 1 where the newest beat stands out of the rounding (f32: 6e-8 of the level, and the filters add to it), 0 where it is what
 * rounding makes of a drift or of a value beyond any converter.
 */
function resolved(slot: usize): f64 {
  const count = beatCount(slot);
  const channel = channelOfKind(slot, KIND_ECG);
  if (!count || !channel) return 1;
  const beat = beatOf(slot, count - 1);
  const lead = load<i32>(slot + ECG_LEAD);
  const cell = <i32>(load<f64>(beat, BEAT_TIME) * ECG_HZ);
  copyCells(channel, lead, cell, 1, cell + 1, SCRATCH);
  const level = Math.abs(<f64>load<f32>(SCRATCH));
  const offset = Math.abs(load<f64>(channel + CH_OFFSET + (<usize>lead << 3)));
  const least = LEAST_OF_LEVEL * level + LEAST_OF_OFFSET * offset;
  const size = <f64>load<f32>(beat, BEAT_AMPLITUDE);
  return size > least ? Math.min(1, size / least - 1) : 0;
}

/** What was may be over (a lead off, a pause) where no beat came for more than two intervals and what a decision takes. */
function stillBeating(idle: f64, interval: f64): f64 {
  const usual = 2 * interval + 0.5;
  return idle > usual ? (usual / idle) ** 3 : 1;
}

/** Odds against a beat whose looks are clear: exp(-10), the most that evidence tells (evidence.ts). */
const CLEAR: f64 = 4.5e-5;

function addDecided(slot: usize, from: f64): void {
  const count = beatCount(slot);
  let number = count;
  for (; number > oldestBeat(slot); number--) {
    const beat = beatOf(slot, number - 1);
    if (load<f64>(beat, BEAT_TIME) - <f64>load<f32>(beat, BEAT_INTERVAL) < from) break;
  }
  for (; number < count; number++) {
    const beat = beatOf(slot, number);
    const quality = <f64>load<f32>(beat, BEAT_QUALITY);
    addInterval(<f64>load<f32>(beat, BEAT_INTERVAL), (1 - quality) / Math.max(1e-9, quality));
  }
}

/** Adds what the best path has after the newest decided beat, and a clear peak which is too new for the path. */
function addOpen(slot: usize): void {
  const end = bestEnd(slot);
  newest = load<f64>(slot + ECG_LAST_TIME);
  let cell = load<i32>(slot + ECG_LAST_BEAT);
  for (let p = firstUndecided(slot, end); p >= 0; p = candidateAfter(slot, end, p)) {
    const candidate = candidateOf(slot, p);
    const odds = Math.exp(<f64>-load<f32>(candidate, CANDIDATE_EVIDENCE));
    addPeak(slot, load<i32>(candidate, CANDIDATE_CELL), cell, load<i32>(candidate, CANDIDATE_EMPTY), odds);
    cell = load<i32>(candidate, CANDIDATE_CELL);
  }
  const peak = newestPeak(slot);
  if (peak - cell >= CLOSEST) addPeak(slot, peak, cell, load<i32>(slot + ECG_EMPTY), CLEAR);
}

/** Adds the interval that ends with a peak which is not measured yet, if no cell since the peak before was empty. */
function addPeak(slot: usize, cell: i32, before: i32, empty: i32, odds: f64): void {
  const offset = load<i32>(leadOf(slot, load<i32>(slot + ECG_LEAD)), LEAD_OFFSET);
  const time = (topOf(slot, cell) + <f64>offset) / ECG_HZ;
  if (beatCount(slot) && empty <= before) addInterval(time - newest, odds);
  newest = time;
}
