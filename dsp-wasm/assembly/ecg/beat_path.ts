import { ECG_HZ } from '../memory/channel';
import { Candidate, Lead } from '../memory/ecg_state';
import { EVIDENCE, PATH } from './tuning';

/**
 * The most likely sequence of beats among the candidates (Viterbi 1967, with a fixed lag: older beats have been decided,
 * and every path contains them). The score of a path is the evidence of its candidates minus the surprise of its RR
 * intervals, given the period that it expects. If beats are clear, the evidence dominates and any rhythm is accepted. In
 * noise, the rhythm adds and removes beats, as a search-back and a refractory period do in other detectors.
 */

/** Number of candidates that a path can look back to. The ring holds more, so that none of them is overwritten. */
const REACH_BACK: i32 = 40;

/** Adds a candidate at a grid sample, with the log odds that it is a beat, its kind, and whether the odds come from its breadth alone. */
export function addCandidate(lead: Lead, sample: i32, evidence: f32, kind: i32, wide: bool, sharpness: f32): void {
  const number = lead.candidateCount++;
  const candidate = lead.candidateAt(number);
  candidate.sample = sample;
  candidate.evidence = evidence;
  candidate.empty = lead.empty;
  candidate.flat = lead.flat;
  candidate.held = lead.held;
  candidate.kind = kind;
  candidate.wide = wide;
  candidate.sharpness = sharpness;
  linkCandidate(lead, number);
}

/** Forgets all candidates and decisions. */
export function forgetPaths(lead: Lead): void {
  lead.candidateCount = 0;
  lead.decided = 0;
}

/** Finds the best path to a candidate. */
function linkCandidate(lead: Lead, number: i32): void {
  const candidate = lead.candidateAt(number);
  let best = scoreOfBeginning(lead, number, candidate.sample);
  let before = -1;
  // Back to the newest decided one, if it is still within reach
  const oldest = max(max(0, lead.decided - 1), number - REACH_BACK);
  for (let p = number - 1; p >= oldest; p--) {
    const other = lead.candidateAt(p);
    const interval = secondsFrom(other, candidate.sample);
    if (interval > PATH.LONGEST) break;
    if (interval < shortestAfter(other, candidate)) continue;
    const score = other.score - surpriseAfter(other, interval);
    if (score > best) {
      best = score;
      before = p;
    }
  }
  candidate.score = best + candidate.evidence;
  candidate.before = before + 1;
  candidate.period = periodAfter(lead, number, before, candidate.sample);
}

/** Shortest interval to a next beat: a wave that is far slower than the beat before may be its T wave. None of a usual heart is sooner than SHORTEST, only one of the same kind, or of a heart that is as fast already. */
function shortestAfter(other: Candidate, next: Candidate): f32 {
  if (next.sharpness < min(EVIDENCE.SLOW, PATH.T_SHARPNESS * other.sharpness)) return PATH.LATEST_T;
  if (next.wide) return PATH.SHORTEST_WIDE;
  if ((next.kind > 0 && next.kind === other.kind) || other.before === 0) return PATH.SHORTEST_PERIOD;
  return min(PATH.SHORTEST, max(PATH.SHORTEST_PERIOD, PATH.SHORTEST_SHARE * other.period));
}

function secondsFrom(candidate: Candidate, sample: i32): f32 {
  return <f32>(sample - candidate.sample) * (1.0 / <f32>ECG_HZ);
}

/** Score of a path that begins here: 0 if nothing is decided yet, negative after a pause, otherwise impossible. */
function scoreOfBeginning(lead: Lead, number: i32, sample: i32): f32 {
  const decided = lead.decided - 1;
  if (decided < 0) return 0;
  const since = secondsFrom(lead.candidateAt(decided), sample);
  return number - decided > REACH_BACK || since > PATH.LONGEST ? -PATH.MOST_SURPRISE : -1e9;
}

/** (ln r)^2, approximated by (r - 1)^2 / r within 4 % up to r = 2. At the start of a path it is 0, because no period is expected yet. */
function surpriseAfter(other: Candidate, interval: f32): f32 {
  if (other.before === 0) return 0;
  const d = interval - other.period;
  return min(PATH.MOST_SURPRISE, (PATH.STEADINESS * d * d) / (interval * other.period));
}

function periodAfter(lead: Lead, number: i32, before: i32, sample: i32): f32 {
  if (before < 0) return number > 0 ? lead.candidateAt(number - 1).period : PATH.LONGEST_PERIOD;
  const other = lead.candidateAt(before);
  const interval = secondsFrom(other, sample);
  const period = other.period;
  if (other.before === 0 && interval < PATH.LONGEST_PERIOD) return max(PATH.SHORTEST_PERIOD, interval);
  const bounded = min<f32>(PATH.MOST_CHANGE * period, max<f32>(PATH.LEAST_CHANGE * period, interval));
  return min(PATH.LONGEST_PERIOD, max(PATH.SHORTEST_PERIOD, period + PATH.FOLLOW * (bounded - period)));
}

/** Number of the candidate at which the best path ends (the newest decided one if there is no better path); -1 for none. */
export function bestEnd(lead: Lead): i32 {
  const decided = lead.decided - 1;
  let end = decided;
  let score: f32 = 0;
  for (let p = max(decided + 1, lead.candidateCount - REACH_BACK); p < lead.candidateCount; p++) {
    const s = lead.candidateAt(p).score;
    if (s > score) {
      score = s;
      end = p;
    }
  }
  return end;
}

/** First candidate after the newest decided one on the path that ends at `end`; -1 for none. */
export function firstUndecided(lead: Lead, end: i32): i32 {
  return candidateAfter(lead, end, lead.decided - 1);
}

/** The candidate after `number` on the path that ends at `end`, of those within reach; -1 for none. */
export function candidateAfter(lead: Lead, end: i32, number: i32): i32 {
  const past = max(number, lead.candidateCount - REACH_BACK - 1);
  let after = -1;
  for (let p = end; p > past; p = lead.candidateAt(p).before - 1) after = p;
  return after;
}

/** Decides that a candidate is a beat: all later paths contain it, and scores are counted from it. */
export function decideCandidate(lead: Lead, number: i32): void {
  const decided = lead.candidateAt(number);
  lead.decided = number + 1;
  decided.score = 0;
  for (let p = number + 1; p < lead.candidateCount; p++) linkCandidate(lead, p);
}
