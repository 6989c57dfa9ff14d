import {
  CANDIDATE_BEFORE,
  CANDIDATE_CELL,
  CANDIDATE_EMPTY,
  CANDIDATE_EVIDENCE,
  CANDIDATE_PERIOD,
  CANDIDATE_SCORE,
  CANDIDATE_WIDE,
  candidateOf,
  ECG_CANDIDATES,
  ECG_DECIDED,
  ECG_EMPTY,
  MAX_CANDIDATES,
} from './ecg_state';
import { ECG_HZ } from './layout';

/**
 * The most likely sequence of beats through the candidates (Viterbi 1967, with a fixed lag: what is older has been
 * decided, and every path goes through it). A path's score is the evidence of its candidates less the surprise of its
 * RR intervals against the period that it expects. Where beats are clear, evidence is all and rhythm may be as irregular
 * as it likes; in noise rhythm fills in and weeds out: this is search-back and refractory period in one.
 */

/** RR intervals on a path, seconds: 250 bpm; longer than LONGEST it is a new beginning. */
const SHORTEST: f32 = 0.24;
/** Until then what is broad may be the T wave of the beat before (Pan & Tompkins 1985). */
const SHORTEST_WIDE: f32 = 0.36;
const LONGEST: f32 = 2.6;
/** Surprise of an interval r times the period: 20 (ln r)^2 (10 % of heart rate variability costs 0.2), at most 4. */
const STEADINESS: f32 = 20;
const MOST_SURPRISE: f32 = 4;
/** The expected period: at first 75 bpm, then within these limits. */
const FIRST_PERIOD: f32 = 0.8;
const SHORTEST_PERIOD: f32 = 0.28;
const LONGEST_PERIOD: f32 = 1.6;
const FOLLOW: f32 = 0.2;
/** Candidates that can be looked back at; the ring holds more, so none is overwritten while it is looked at. */
const REACH_BACK: i32 = 40;

/** Adds a candidate at a cell, with the log odds that it is a beat, and whether only its breadth says so. */
export function addCandidate(slot: usize, cell: i32, evidence: f32, wide: i32): void {
  const number = load<i32>(slot + ECG_CANDIDATES);
  const candidate = candidateOf(slot, number);
  store<i32>(candidate, cell, CANDIDATE_CELL);
  store<f32>(candidate, evidence, CANDIDATE_EVIDENCE);
  store<i32>(candidate, load<i32>(slot + ECG_EMPTY), CANDIDATE_EMPTY);
  store<i32>(candidate, wide, CANDIDATE_WIDE);
  store<i32>(slot + ECG_CANDIDATES, number + 1);
  linkCandidate(slot, number);
}

/** Forgets all candidates and what was decided. */
export function forgetPaths(slot: usize): void {
  store<i32>(slot + ECG_CANDIDATES, 0);
  store<i32>(slot + ECG_DECIDED, 0);
}

/** Number of the oldest candidate that a path may go through: the newest decided one, if it is still in reach. */
function oldestOf(slot: usize, number: i32): i32 {
  return max(max(0, load<i32>(slot + ECG_DECIDED) - 1), number - REACH_BACK);
}

/** Finds the best way to a candidate. */
function linkCandidate(slot: usize, number: i32): void {
  const candidate = candidateOf(slot, number);
  const cell = load<i32>(candidate, CANDIDATE_CELL);
  const shortest = load<i32>(candidate, CANDIDATE_WIDE) ? SHORTEST_WIDE : SHORTEST;
  let best = scoreOfBeginning(slot, number, cell);
  let before = -1;
  for (let p = number - 1, oldest = oldestOf(slot, number); p >= oldest; p--) {
    const other = candidateOf(slot, p);
    const interval = <f32>(cell - load<i32>(other, CANDIDATE_CELL)) * (1.0 / <f32>ECG_HZ);
    if (interval > LONGEST) break;
    if (interval < shortest) continue;
    const score = load<f32>(other, CANDIDATE_SCORE) - surpriseAfter(other, interval);
    if (score > best) {
      best = score;
      before = p;
    }
  }
  store<f32>(candidate, best + load<f32>(candidate, CANDIDATE_EVIDENCE), CANDIDATE_SCORE);
  store<i32>(candidate, before + 1, CANDIDATE_BEFORE);
  store<f32>(candidate, periodAfter(slot, number, before, cell), CANDIDATE_PERIOD);
}

/** Score of a path that begins at the cell: free where nothing is decided, a surprise after a pause, else impossible. */
function scoreOfBeginning(slot: usize, number: i32, cell: i32): f32 {
  const decided = load<i32>(slot + ECG_DECIDED) - 1;
  if (decided < 0) return 0;
  const since = <f32>(cell - load<i32>(candidateOf(slot, decided), CANDIDATE_CELL)) * (1.0 / <f32>ECG_HZ);
  return number - decided > REACH_BACK || since > LONGEST ? -MOST_SURPRISE : -1e9;
}

/** (ln r)^2 as (r - 1)^2 / r, which is the same within 4 % up to r = 2; none where a path begins: it expects nothing yet. */
// @ts-ignore: decorator
@inline
function surpriseAfter(other: usize, interval: f32): f32 {
  if (load<i32>(other, CANDIDATE_BEFORE) == 0) return 0;
  const period = load<f32>(other, CANDIDATE_PERIOD);
  const d = interval - period;
  return min(MOST_SURPRISE, (STEADINESS * d * d) / (interval * period));
}

function periodAfter(slot: usize, number: i32, before: i32, cell: i32): f32 {
  if (before < 0) return number > 0 ? load<f32>(candidateOf(slot, number - 1), CANDIDATE_PERIOD) : FIRST_PERIOD;
  const other = candidateOf(slot, before);
  const interval = <f32>(cell - load<i32>(other, CANDIDATE_CELL)) * (1.0 / <f32>ECG_HZ);
  const period = load<f32>(other, CANDIDATE_PERIOD);
  const isFirst = load<i32>(other, CANDIDATE_BEFORE) == 0;
  if (isFirst && interval < LONGEST_PERIOD) return max(SHORTEST_PERIOD, interval);
  const bounded = min<f32>(<f32>1.65 * period, max<f32>(<f32>0.6 * period, interval));
  return min(LONGEST_PERIOD, max(SHORTEST_PERIOD, period + FOLLOW * (bounded - period)));
}

/** Number of the candidate at which the best path ends, the newest decided one where nothing better came since; or -1. */
export function bestEnd(slot: usize): i32 {
  const count = load<i32>(slot + ECG_CANDIDATES);
  const decided = load<i32>(slot + ECG_DECIDED) - 1;
  let end = decided;
  let score: f32 = 0;
  for (let p = max(decided + 1, count - REACH_BACK); p < count; p++) {
    const s = load<f32>(candidateOf(slot, p), CANDIDATE_SCORE);
    if (s > score) {
      score = s;
      end = p;
    }
  }
  return end;
}

/** First candidate after the newest decided one on the path that ends at `end`; -1 where there is none. */
export function firstUndecided(slot: usize, end: i32): i32 {
  return candidateAfter(slot, end, load<i32>(slot + ECG_DECIDED) - 1);
}

/** The candidate after `number` on the path that ends at `end`; -1 where there is none. */
export function candidateAfter(slot: usize, end: i32, number: i32): i32 {
  let after = -1;
  for (let p = end; p > number; p = load<i32>(candidateOf(slot, p), CANDIDATE_BEFORE) - 1) after = p;
  return after;
}

/** Decides for a candidate: from now on all paths go through it, and scores count from it. */
export function decideCandidate(slot: usize, number: i32): void {
  const base = load<f32>(candidateOf(slot, number), CANDIDATE_SCORE);
  const count = load<i32>(slot + ECG_CANDIDATES);
  store<i32>(slot + ECG_DECIDED, number + 1);
  const decided = candidateOf(slot, number);
  store<f32>(decided, load<f32>(decided, CANDIDATE_SCORE) - base, CANDIDATE_SCORE);
  for (let p = number + 1; p < count; p++) linkCandidate(slot, p);
}
