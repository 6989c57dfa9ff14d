import { logOdds } from '../math/logistic';
import { ramp } from '../math/ramp';
import { SLOW_HZ } from '../memory/channel';
import { featuresOf, Model } from '../memory/features';
import { BINS, PulseState } from '../memory/pulse_state';
import { beatLikeness } from './beats';
import { shortInARow } from './count';
import { HR_PPG_MOTION_WEIGHTS } from './hr_ppg_motion_weights';
import {
  Beats,
  BIN_HZ,
  CLIPPED,
  COUNTED,
  EVEN,
  FIRST_BIN,
  HELD,
  JUMPS,
  PULSE,
  STILL,
  SWINGS,
  Tracked,
} from './scratch';
import { GRID_PER_MINUTE } from './tracker';
import {
  ALIKE,
  BIAS,
  COUNT_BIAS,
  ENOUGH_APART,
  ENOUGH_COVER,
  ENOUGH_FREE,
  ENOUGH_ODDS,
  ENOUGH_SUPPORT,
  ENOUGH_UNEXPLAINED,
  EVEN_RHYTHM,
  EVEN_STEEPNESS,
  EVEN_STROKES,
  FOLLOWED,
  GREAT_DIFFERENCE,
  IRREGULAR,
  JUMP_STEEPNESS,
  LATEST_DICROTIC,
  LEAST_APART,
  LEAST_CONCENTRATION,
  LEAST_COVER,
  LEAST_EVEN,
  LEAST_FREE,
  LEAST_HELD,
  LEAST_ODDS,
  LEAST_SUPPORT,
  LEAST_SWING,
  LEAST_UNEXPLAINED,
  LEAST_UNLIKENESS,
  LINE_BIAS,
  LINE_OF_CONFIDENCE,
  LINE_OF_DIFFERENCE,
  LINE_OF_EDGE,
  LINE_OF_GAP,
  LINE_OF_GREAT_DIFFERENCE,
  LINE_OF_SKEW,
  LINE_OF_SLOWNESS,
  LINE_OF_UNLIKENESS,
  LINE_OF_VARIATION,
  LINE_WIDTH,
  LOBE,
  MISSED_DOUBT,
  MOST_JUMP,
  MOST_STILL,
  MOVING,
  OF_BELIEF,
  OF_COLLISION,
  OF_CONCENTRATION,
  OF_DIFFERENCE,
  OF_EDGE,
  OF_GAP,
  OF_LONGEST,
  OF_MARGIN,
  OF_SHORTEST,
  OF_SKEW,
  OF_SLOWNESS,
  OF_STEADINESS,
  OF_STROKE_UNLIKENESS,
  OF_UNLIKENESS,
  OF_UNREST,
  OF_VARIATION,
  RUN,
  RUN_INTERVAL,
  RUN_LIKENESS,
  RUN_RATE,
  SAME_RATE,
  SLOW_RATE,
  STEADY_PAIRS,
  STEP_DOUBT,
  STILL_STEEPNESS,
  SUPPORTED,
  UNTRUSTED,
  USUAL_EDGE,
  USUAL_GAP,
  USUAL_LONGEST,
  USUAL_SHORTEST,
  USUAL_STEP,
  USUAL_WEAK,
  WEAK_DOUBT,
} from './tuning';
import { fullness } from './window';

/**
 * The confidence of a rate: a logistic function of what tells good windows from bad ones, so that it means the probability
 * of an error below 5 bpm. The weights are a regression (ridge, each set weighing the same) over the recordings of
 * ACCURACY.md and over optical channels that carry noise alone (white, 1 / f, random walk, spikes, rails; still and in
 * motion).
 */

/**
 * Confidence in the tracked rate, in [0, 1].
 * @param state what was seen of late
 * @param apart how far the line is apart from motion now (apartFromMotion)
 * @param unrest distance of the rate from its running mean, tens of bpm
 */
export function pulseConfidence(
  state: PulseState,
  tracked: Tracked,
  beats: Beats,
  motion: f32,
  apart: f32,
  unrest: f32,
): f32 {
  const belief = oddsOf(tracked.belief);
  if (motion > MOVING) return confidenceInMotion(state, belief) * covered(beats.cover, motion) * waveform();
  let odds = BIAS + OF_BELIEF * belief;
  odds += OF_CONCENTRATION * Mathf.log(concentration(tracked.rate) + LEAST_CONCENTRATION);
  odds +=
    OF_UNLIKENESS *
    Mathf.log(max<f32>(LEAST_UNLIKENESS, <f32>1 + LEAST_UNLIKENESS - beatLikeness(beats, tracked.rate)));
  odds += OF_COLLISION * Mathf.log(apart);
  odds += OF_UNREST * unrest;
  return shown(beats.cover, motion, state.seenApart) * probability(odds);
}

/**
 * In motion the beats' likeness and the share of the power in the line tell nothing: the arm's swings are as alike, and as
 * concentrated, as beats. What tells is the belief, how it was borne out of late, and how far apart from the motion the line
 * was seen. The same evidence is wrong more often in some kinds of motion than in others, so trust takes more than even odds.
 * A line that follows the motion in phase, too, is the motion's, wherever a pulse was seen before.
 */
function confidenceInMotion(state: PulseState, belief: f32): f32 {
  const features = featuresOf(Model.HR_PPG_MOTION);
  features[0] = belief;
  features[1] = min<f32>(0, Mathf.log((state.support + LEAST_SUPPORT) / ENOUGH_SUPPORT));
  features[2] = state.seenApart;
  const odds = logOdds(features, HR_PPG_MOTION_WEIGHTS);
  const apart = ramp<f32>(state.seenApart, LEAST_APART, ENOUGH_APART);
  const own = ramp<f32>(state.unexplained, LEAST_UNEXPLAINED, ENOUGH_UNEXPLAINED);
  const trusted = min<f32>(min<f32>(apart, own), ramp<f32>(odds, LEAST_ODDS, ENOUGH_ODDS));
  return min<f32>(trustable(trusted), probability(odds));
}

/** Highest confidence of a rate that only a share of the signs allows to trust. */
export function trustable(share: f32): f32 {
  return UNTRUSTED + (<f32>1 - UNTRUSTED) * share;
}

function probability(odds: f32): f32 {
  return <f32>1 / (<f32>1 + Mathf.exp(-odds));
}

/** Bounded: a probability of one counts as 0.999. */
function oddsOf(probability: f32): f32 {
  return Mathf.log((probability + <f32>1e-3) / (<f32>1.001 - probability));
}

/** Whether there is a pulse to be seen at all, and its beats fill the window. */
export function shown(cover: f32, motion: f32, seen: f32): f32 {
  return covered(cover, motion) * visible(seen);
}

/** Whether there is a pulse to be seen, in the waveform and beside the motion. */
function visible(seen: f32): f32 {
  return ramp<f32>(seen, LEAST_APART, ENOUGH_APART) * waveform();
}

/** Quality of the waveforms by themselves. */
function waveform(): f32 {
  return filled() * unclipped() * paced();
}

/** Confidence in the rate of the beats that were counted one by one (COUNTED), beside another estimate. */
export function countConfidence(other: f32, seen: f32): f32 {
  let odds = COUNT_BIAS + OF_VARIATION * COUNTED.variation + OF_STEADINESS * COUNTED.steadiness;
  odds += OF_STROKE_UNLIKENESS * unlikeness();
  odds += OF_MARGIN * Mathf.log(COUNTED.margin);
  odds += OF_SHORTEST * min<f32>(0, COUNTED.shortest / <f32>SLOW_HZ - USUAL_SHORTEST);
  odds += OF_LONGEST * max<f32>(0, COUNTED.longest / <f32>SLOW_HZ - USUAL_LONGEST);
  odds += OF_SKEW * COUNTED.skew + OF_SLOWNESS * slowness();
  if (!isBigeminy(other)) odds += OF_DIFFERENCE * difference(other, ALIKE);
  if (isFollowed() || isSkipping(other)) odds -= MISSED_DOUBT;
  odds += OF_EDGE * excess(COUNTED.edge, USUAL_EDGE) + OF_GAP * excess(COUNTED.gap, USUAL_GAP);
  return visible(seen) / (<f32>1 + Mathf.exp(-odds));
}

/** Probability of the rate by line and period, of some confidence by itself, beside the beats that were counted one by one. */
export function lineConfidence(rate: f32, confidence: f32): f32 {
  let odds = LINE_BIAS + LINE_OF_VARIATION * COUNTED.variation + LINE_OF_SKEW * COUNTED.skew;
  odds += LINE_OF_CONFIDENCE * oddsOf(confidence);
  odds += LINE_OF_DIFFERENCE * difference(rate, ALIKE) + LINE_OF_GREAT_DIFFERENCE * difference(rate, GREAT_DIFFERENCE);
  odds += LINE_OF_SLOWNESS * slowness() + LINE_OF_EDGE * excess(COUNTED.edge, USUAL_EDGE);
  odds += LINE_OF_GAP * excess(COUNTED.gap, USUAL_GAP) + LINE_OF_UNLIKENESS * unlikeness();
  if (isFollowed() || isBigeminy(rate) || isRun(rate)) odds -= MISSED_DOUBT;
  return <f32>1 / (<f32>1 + Mathf.exp(-odds));
}

/**
 * Whether a premature beat follows each normal one, so that the line is at half of the rate, or at three halves: the first and the third
 * harmonic of a pair. A second wave comes sooner.
 */
function isBigeminy(line: f32): bool {
  if (!isPaired()) return false;
  return isSame(COUNTED.rate, line + line) || (isSame(<f32>1.5 * COUNTED.rate, line) && !isSkipping(line));
}

/** Whether the beats come in steady pairs, the second one later than a second wave would. */
function isPaired(): bool {
  return COUNTED.shortest >= LATEST_DICROTIC && COUNTED.pairVariation <= STEADY_PAIRS;
}

/** Whether short and long intervals alternate, so that each second beat, however weak, is a premature one. */
export function isAlternating(): bool {
  return isPaired() && COUNTED.variation > IRREGULAR;
}

/**
 * Whether the long intervals hold a beat without a pulse: two short ones, whose rate is the line's. After a premature beat with
 * a pulse, which is a weak one, the pause only happens to be as long.
 */
function isSkipping(line: f32): bool {
  if (COUNTED.evenness <= EVEN_STROKES || !isSame(COUNTED.longest, COUNTED.shortest + COUNTED.shortest)) return false;
  return isSame(GRID_PER_MINUTE / COUNTED.shortest, line);
}

/** Whether fast beats come in a row, which a line at the rate of the others does not show. */
function isRun(line: f32): bool {
  if (COUNTED.likeness <= RUN_LIKENESS || COUNTED.rate <= line || COUNTED.rate > RUN_RATE * line) return false;
  return shortInARow((RUN_INTERVAL * GRID_PER_MINUTE) / line) >= RUN;
}

/**
 * Whether weak pulses in a row may be a run of beats that a rate leaves out: counted, they make another rate. Beats that come evenly
 * all through the window leave no room for one; breathing makes their pulses weak.
 */
export function leavesOutRun(rate: f32): bool {
  if (COUNTED.likeness <= RUN_LIKENESS || COUNTED.withRuns <= rate + ALIKE) return false;
  return COUNTED.variation > EVEN_RHYTHM || COUNTED.edge > USUAL_EDGE;
}

/** Whether weak pulses that were not counted may be premature beats, each after a normal one. */
function isFollowed(): bool {
  return COUNTED.followed >= FOLLOWED;
}

/** Whether two rates, or two intervals, count as the same. */
export function isSame(a: f32, b: f32): bool {
  return abs<f32>(a - b) <= SAME_RATE * max<f32>(a, b);
}

/**
 * A confidence at rest, less the doubt of a rate that leaps from window to window, which is known less well.
 * @param step difference of the value from this window's own rate
 */
export function doubted(confidence: f32, step: f32): f32 {
  return lessOdds(confidence, STEP_DOUBT * max<f32>(0, abs<f32>(step) - USUAL_STEP));
}

/**
 * A confidence in a rate, if it is that of the counted beats, less the doubt of beats that come at irregular times while an upstroke that
 * does not count is nearly as steep as one that does: as in atrial fibrillation, some pulses may be too weak to be told from noise.
 */
export function doubtedCount(confidence: f32, rate: f32): f32 {
  if (abs<f32>(COUNTED.rate - rate) > ALIKE) return confidence;
  const doubtful = COUNTED.disorder * min<f32>(1, COUNTED.margin);
  const less = lessOdds(confidence, WEAK_DOUBT * max<f32>(0, doubtful - USUAL_WEAK));
  return max(min(confidence, SUPPORTED), less); // other beats may be missed, but these were found
}

function lessOdds(confidence: f32, doubt: f32): f32 {
  return confidence / (confidence + (<f32>1 - confidence) * Mathf.exp(doubt));
}

function unlikeness(): f32 {
  return Mathf.log(max<f32>(LEAST_UNLIKENESS, <f32>1 + LEAST_UNLIKENESS - COUNTED.likeness));
}

/** Difference from another rate, in parts of `most` bpm, at most one. */
function difference(other: f32, most: f32): f32 {
  return min<f32>(1, abs<f32>(COUNTED.rate - other) / most);
}

/** How far the rate is below SLOW_RATE, tens of bpm: every second beat may have no pulse. */
function slowness(): f32 {
  return max<f32>(0, (SLOW_RATE - COUNTED.rate) * <f32>0.1);
}

/** How far something is beyond what is usual, two at most. */
function excess(x: f32, usual: f32): f32 {
  return max<f32>(0, min<f32>(2, x - usual));
}

/** Beats must fill the window, as those of a random walk do not; in motion they are the motion's, and tell nothing. */
function covered(cover: f32, motion: f32): f32 {
  return motion + (<f32>1 - motion) * ramp<f32>(cover, LEAST_COVER, ENOUGH_COVER);
}

/** Half a window has half the beats: between 0.5 and 1, by the fullest optical channel. */
function filled(): f32 {
  return <f32>0.5 + <f32>0.5 * fullness();
}

/** 1 where an optical channel keeps off its extremes, 0 where all are between rails for 60 % of the window. */
function unclipped(): f32 {
  let least: f32 = 1;
  for (let lane = 0; lane < 4; lane++) if (HELD[lane] >= LEAST_HELD) least = min(least, CLIPPED[lane]);
  return ramp<f32>(<f32>1 - least, LEAST_FREE, ENOUGH_FREE);
}

/**
 * 1 where an optical channel swings at a pulse's pace, 0 where all of them only drift, hum, stand still or leap: nothing
 * but the leakage of the drift, the beat of the hum with the grid, the last bit or a leap's ringing is in the pulse's
 * band then.
 */
function paced(): f32 {
  let most: f32 = 0;
  for (let lane = 0; lane < 4; lane++) {
    if (HELD[lane] < LEAST_HELD) continue;
    const drifts = Mathf.sqrt(SWINGS[lane]) / LEAST_SWING - <f32>1;
    const hums = (MOST_JUMP - JUMPS[lane]) * JUMP_STEEPNESS;
    const stands = (MOST_STILL - STILL[lane]) * STILL_STEEPNESS;
    const leaps = (EVEN[lane] - LEAST_EVEN) * EVEN_STEEPNESS;
    most = max(most, min(min(drifts, hums), min(stands, leaps)));
  }
  return min<f32>(1, most);
}

/** Share of the pulse's power near the rate and its double. */
function concentration(bpm: f32): f32 {
  return (powerNear(bpm, LINE_WIDTH) + powerNear(bpm + bpm, LINE_WIDTH)) / totalPower();
}

/** Share of the pulse's power that is not the line's at a rate. */
export function besideLine(bpm: f32): f32 {
  return <f32>1 - powerNear(bpm, LOBE) / totalPower();
}

function totalPower(): f32 {
  let total: f32 = 1e-30;
  for (let k = FIRST_BIN; k < BINS; k++) total += PULSE[k];
  return total;
}

function powerNear(bpm: f32, width: f32): f32 {
  const from = max(FIRST_BIN, <i32>ceil<f32>((bpm - width) / (60 * BIN_HZ)));
  const to = min(BINS - 1, <i32>((bpm + width) / (60 * BIN_HZ)));
  let sum: f32 = 0;
  for (let k = from; k <= to; k++) sum += PULSE[k];
  return sum;
}
