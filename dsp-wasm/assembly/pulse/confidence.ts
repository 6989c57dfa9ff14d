import { logistic, UNTRUSTED } from '../math/logistic';
import { SLOW_HZ } from '../memory/channel';
import { featuresOf, Model } from '../memory/features';
import { PulseState } from '../memory/pulse_state';
import { Row } from '../memory/row';
import { shortInARow } from './count';
import { HR_PPG_MOTION_WEIGHTS } from './hr_ppg_motion_weights';
import { HR_PPG_REST_WEIGHTS } from './hr_ppg_rest_weights';
import { isSame, secondInStep } from './octave';
import { Count, GRID_PER_MINUTE, HIGHEST, PulseWindow, Spectra, Tracked } from './records';
import { shareNear } from './spectrum';
import { massNear } from './tracker';
import { BEAT, COUNT, LOADING, MOTION, OCTAVE, QUALITY, RATE, REST, TRACK } from './tuning';

/**
 * The confidence of a rate: the probability of an error below 5 bpm, by logistic regression on features of the window and of what was seen of
 * late (src/features.ts).
 */

/** The features at rest, in the order of their names. */
enum Rest {
  LIKELIHOOD,
  OFF_TRACK,
  MARGIN,
  SHORT,
  GAP,
  STEP,
}

/**
 * The confidence of a rate at rest, in [0, 1].
 * @param likelihood of each rate in this window
 * @param rate of this window alone
 * @param step by which the value differs from it
 */
export function restConfidence(likelihood: Row<f32>, tracked: Tracked, count: Count, rate: f32, step: f32): f32 {
  const features = featuresOf(Model.HR_PPG_REST);
  features[Rest.LIKELIHOOD] = likelihoodOf(likelihood, rate);
  features[Rest.OFF_TRACK] = difference(tracked.rate, rate);
  features[Rest.MARGIN] = Mathf.log(count.margin);
  features[Rest.SHORT] = max<f32>(0, REST.USUAL_SHORTEST - count.shortest / <f32>SLOW_HZ);
  features[Rest.GAP] = max<f32>(0, min<f32>(2, count.gap - <f32>1));
  features[Rest.STEP] = max<f32>(0, abs<f32>(step) - <f32>TRACK.RATE_CHANGE);
  return logistic(features, HR_PPG_REST_WEIGHTS);
}

/** Log odds of the track's belief near a rate. */
export function beliefIn(state: PulseState, rate: f32): f32 {
  return oddsOf(massNear(state.belief, rate));
}

/** Logarithm of the likelihood's share near a rate. */
export function likelihoodOf(likelihood: Row<f32>, rate: f32): f32 {
  return Mathf.log(massNear(likelihood, rate) + REST.LEAST_SHARE);
}

/** Logarithm of the share of the pulse's power near a rate, its double and its triple. */
export function concentration(spectra: Spectra, rate: f32): f32 {
  let share = REST.LEAST_SHARE;
  for (let i = 1; i <= 3; i++) share += shareNear(spectra.pulse, <f32>i * rate, RATE.LINE_REACH);
  return Mathf.log(share);
}

/** How clear the counted beats are, from 0 to 1: alike, and steeper than all other rises. */
export function clarity(count: Count): f32 {
  return count.likeness * count.likeness * (<f32>1 - min<f32>(1, count.margin));
}

/** Whether signs say that a rate misses beats. */
export function isMissing(count: Count, line: f32, rate: f32): bool {
  // Weak pulses that were not counted may be premature beats, each after a normal one
  if (count.followed >= REST.FOLLOWED) return true;
  if (count.found && count.disorder * min<f32>(1, count.margin) > RATE.IRREGULAR)
    return difference(count.rate, rate) < 1;
  if (difference(count.rate, rate) < 1) return isSkipping(count, line);
  return isBigeminy(count, rate) || isRun(count, rate);
}

/** Whether clear beats make another rate. */
export function isContradicted(count: Count, rate: f32): bool {
  return difference(count.rate, rate) === 1 && clarity(count) > REST.CLEAR;
}

/** Difference of two rates, in parts of the tolerance, at most one. */
function difference(a: f32, b: f32): f32 {
  return min<f32>(1, abs<f32>(a - b) / RATE.ALIKE);
}

/**
 * Whether a premature beat follows each normal one, so that the line is at half of the rate, or at three halves: the first and the third
 * harmonic of a pair. A second wave comes sooner.
 */
function isBigeminy(count: Count, line: f32): bool {
  if (!isPaired(count)) return false;
  return isSame(count.rate, line + line) || (isSame(<f32>1.5 * count.rate, line) && !isSkipping(count, line));
}

/** Whether the beats come in steady pairs, the second one later than a second wave would. */
function isPaired(count: Count): bool {
  return count.shortest >= COUNT.LATEST_DICROTIC && count.pairVariation <= REST.STEADY_PAIRS;
}

/** Whether short and long intervals alternate, so that each second beat, however weak, is a premature one. */
export function isAlternating(count: Count): bool {
  return isPaired(count) && count.variation > RATE.IRREGULAR;
}

/**
 * Whether the long intervals hold a beat without a pulse: two short ones, whose rate is the line's. After a premature beat with
 * a pulse, which is a weak one, the pause only happens to be as long.
 */
function isSkipping(count: Count, line: f32): bool {
  if (count.evenness <= COUNT.DICROTIC_SHARE || !isSame(count.longest, count.shortest + count.shortest)) return false;
  return isSame(GRID_PER_MINUTE / count.shortest, line);
}

/** Whether fast beats come in a row, which a line at the rate of the others does not show; still faster ones are second waves. */
function isRun(count: Count, line: f32): bool {
  if (count.likeness <= REST.RUN_LIKENESS || count.rate <= line || count.rate > BEAT.LONGEST_INTERVAL * line)
    return false;
  return shortInARow(count, (COUNT.EARLY * GRID_PER_MINUTE) / line) >= COUNT.RUN;
}

/**
 * Whether weak pulses in a row may be a run of beats that a rate leaves out: counted, they make another rate. Beats that come evenly
 * all through the window leave no room for one; breathing makes their pulses weak.
 */
export function leavesOutRun(count: Count, rate: f32): bool {
  if (count.likeness <= REST.RUN_LIKENESS || count.withRuns <= rate + RATE.ALIKE) return false;
  return count.variation > REST.STEADY_PAIRS || count.edge > 1;
}

/**
 * Whether each second beat may be a weak one, which a rate leaves out: an upstroke of the same shape midway between two beats, and a second harmonic nearly as
 * strong as the line. Of a fast heart, whose weak upstrokes may be too flat to see, a second harmonic as strong is enough.
 */
export function hasMidway(state: PulseState, count: Count, rate: f32): bool {
  const second = secondInStep(state);
  const mayBeHalf = rate > OCTAVE.DICROTIC && rate <= <f32>0.5 * <f32>HIGHEST + RATE.ALIKE;
  if (mayBeHalf && second > OCTAVE.STRONG_SECOND) return true;
  return count.midway > OCTAVE.MIDWAY && second > OCTAVE.MIDWAY && difference(count.rate, rate) < 1;
}

/**
 * The confidence in motion, in [0, 1]. The beats' likeness and the share of the power in the line tell nothing: the arm's swings are as alike, and as
 * concentrated, as beats. What tells is the belief, how it was borne out of late, and how far apart from the motion the line was seen.
 */
export function motionConfidence(state: PulseState, tracked: Tracked): f32 {
  const features = featuresOf(Model.HR_PPG_MOTION);
  features[0] = oddsOf(tracked.belief);
  features[1] = min<f32>(0, Mathf.log((state.support + REST.LEAST_SHARE) / MOTION.ENOUGH_SUPPORT));
  features[2] = state.seenApart;
  return logistic(features, HR_PPG_MOTION_WEIGHTS);
}

/** The confidence of a rate that something makes doubtful: not trusted, though it may well be right. */
export function doubted(confidence: f32): f32 {
  return min<f32>(UNTRUSTED, confidence);
}

/** Bounded: a probability of one counts as 0.999. */
function oddsOf(probability: f32): f32 {
  return Mathf.log((probability + TRACK.LOST) / (<f32>1 + TRACK.LOST - probability));
}

/**
 * Whether an optical channel keeps off its extremes, and one swings at a pulse's pace. Where all only drift, hum or stand still, nothing but
 * the leakage of the drift, the beat of the hum with the grid or the last bit is in the pulse's band.
 */
export function isPlausible(window: PulseWindow, moving: bool): bool {
  let free = false;
  let paced = false;
  for (let lane = 0; lane < 4; lane++) {
    if (window.held[lane] < LOADING.LEAST_HELD) continue;
    free = free || window.clipped[lane] < QUALITY.MOST_STILL;
    const swings = Mathf.sqrt(window.swings[lane]) > QUALITY.LEAST_SWING;
    const noise = window.jumps[lane] > (moving ? QUALITY.MOST_JUMP : QUALITY.WHITE_JUMP);
    paced = paced || (swings && !noise && window.still[lane] < QUALITY.MOST_STILL);
  }
  return free && paced;
}
