import { logOdds } from '../math/logistic';
import { ramp } from '../math/ramp';
import { SLOW_HZ } from '../memory/channel';
import { featuresOf, Model } from '../memory/features';
import { PulseState } from '../memory/pulse_state';
import { beatLikeness } from './beats';
import { shortInARow } from './count';
import { HR_PPG_MOTION_WEIGHTS } from './hr_ppg_motion_weights';
import { isSame } from './octave';
import { Beats, Count, GRID_PER_MINUTE, PulseWindow, Spectra, Tracked } from './records';
import { shareNear } from './spectrum';
import { COUNT, LOADING, MOTION, QUALITY, RATE, REST, SPECTRUM } from './tuning';
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
  window: PulseWindow,
  spectra: Spectra,
  tracked: Tracked,
  beats: Beats,
  apart: f32,
  unrest: f32,
): f32 {
  const motion = window.motion;
  const belief = oddsOf(tracked.belief);
  if (motion > SPECTRUM.MOVING)
    return confidenceInMotion(state, belief) * covered(beats.cover, motion) * waveform(window);
  let odds = REST.BIAS + REST.OF_BELIEF * belief;
  odds += REST.OF_CONCENTRATION * Mathf.log(concentration(spectra, tracked.rate) + REST.LEAST_CONCENTRATION);
  odds +=
    REST.OF_UNLIKENESS *
    Mathf.log(
      max<f32>(REST.LEAST_UNLIKENESS, <f32>1 + REST.LEAST_UNLIKENESS - beatLikeness(window, beats, tracked.rate)),
    );
  odds += REST.OF_COLLISION * Mathf.log(apart);
  odds += REST.OF_UNREST * unrest;
  return shown(window, beats.cover, state.seenApart) * probability(odds);
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
  features[1] = min<f32>(0, Mathf.log((state.support + MOTION.LEAST_SUPPORT) / MOTION.ENOUGH_SUPPORT));
  features[2] = state.seenApart;
  const odds = logOdds(features, HR_PPG_MOTION_WEIGHTS);
  const apart = ramp<f32>(state.seenApart, MOTION.LEAST_APART, MOTION.ENOUGH_APART);
  const own = ramp<f32>(state.unexplained, MOTION.LEAST_UNEXPLAINED, MOTION.ENOUGH_UNEXPLAINED);
  const trusted = min<f32>(min<f32>(apart, own), ramp<f32>(odds, MOTION.LEAST_ODDS, MOTION.ENOUGH_ODDS));
  return min<f32>(trustable(trusted), probability(odds));
}

/** Highest confidence of a rate that only a share of the signs allows to trust. */
export function trustable(share: f32): f32 {
  return MOTION.UNTRUSTED + (<f32>1 - MOTION.UNTRUSTED) * share;
}

function probability(odds: f32): f32 {
  return <f32>1 / (<f32>1 + Mathf.exp(-odds));
}

/** Bounded: a probability of one counts as 0.999. */
function oddsOf(probability: f32): f32 {
  return Mathf.log((probability + <f32>1e-3) / (<f32>1.001 - probability));
}

/** Whether there is a pulse to be seen at all, and its beats fill the window. */
export function shown(window: PulseWindow, cover: f32, seen: f32): f32 {
  return covered(cover, window.motion) * visible(window, seen);
}

/** Whether there is a pulse to be seen, in the waveform and beside the motion. */
function visible(window: PulseWindow, seen: f32): f32 {
  return ramp<f32>(seen, MOTION.LEAST_APART, MOTION.ENOUGH_APART) * waveform(window);
}

/** Quality of the waveforms by themselves. */
function waveform(window: PulseWindow): f32 {
  return filled(window) * unclipped(window) * paced(window);
}

/** Confidence in the rate of the beats that were counted one by one, beside another estimate. */
export function countConfidence(window: PulseWindow, count: Count, other: f32, seen: f32): f32 {
  let odds = REST.COUNT_BIAS + REST.OF_VARIATION * count.variation + REST.OF_STEADINESS * count.steadiness;
  odds += REST.OF_STROKE_UNLIKENESS * unlikeness(count);
  odds += REST.OF_MARGIN * Mathf.log(count.margin);
  odds += REST.OF_SHORTEST * min<f32>(0, count.shortest / <f32>SLOW_HZ - REST.USUAL_SHORTEST);
  odds += REST.OF_LONGEST * max<f32>(0, count.longest / <f32>SLOW_HZ - REST.USUAL_LONGEST);
  odds += REST.OF_SKEW * count.skew + REST.OF_SLOWNESS * slowness(count);
  if (!isBigeminy(count, other)) odds += REST.OF_DIFFERENCE * difference(count, other, RATE.ALIKE);
  if (isFollowed(count) || isSkipping(count, other)) odds -= REST.MISSED_DOUBT;
  odds += REST.OF_EDGE * excess(count.edge, REST.USUAL_EDGE) + REST.OF_GAP * excess(count.gap, REST.USUAL_GAP);
  return visible(window, seen) / (<f32>1 + Mathf.exp(-odds));
}

/** Probability of the rate by line and period, of some confidence by itself, beside the beats that were counted one by one. */
export function lineConfidence(count: Count, rate: f32, confidence: f32): f32 {
  let odds = REST.LINE_BIAS + REST.LINE_OF_VARIATION * count.variation + REST.LINE_OF_SKEW * count.skew;
  odds += REST.LINE_OF_CONFIDENCE * oddsOf(confidence);
  odds +=
    REST.LINE_OF_DIFFERENCE * difference(count, rate, RATE.ALIKE) +
    REST.LINE_OF_GREAT_DIFFERENCE * difference(count, rate, REST.GREAT_DIFFERENCE);
  odds += REST.LINE_OF_SLOWNESS * slowness(count) + REST.LINE_OF_EDGE * excess(count.edge, REST.USUAL_EDGE);
  odds += REST.LINE_OF_GAP * excess(count.gap, REST.USUAL_GAP) + REST.LINE_OF_UNLIKENESS * unlikeness(count);
  if (isFollowed(count) || isBigeminy(count, rate) || isRun(count, rate)) odds -= REST.MISSED_DOUBT;
  return <f32>1 / (<f32>1 + Mathf.exp(-odds));
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
  if (count.evenness <= REST.EVEN_STROKES || !isSame(count.longest, count.shortest + count.shortest)) return false;
  return isSame(GRID_PER_MINUTE / count.shortest, line);
}

/** Whether fast beats come in a row, which a line at the rate of the others does not show. */
function isRun(count: Count, line: f32): bool {
  if (count.likeness <= REST.RUN_LIKENESS || count.rate <= line || count.rate > REST.RUN_RATE * line) return false;
  return shortInARow(count, (REST.RUN_INTERVAL * GRID_PER_MINUTE) / line) >= COUNT.RUN;
}

/**
 * Whether weak pulses in a row may be a run of beats that a rate leaves out: counted, they make another rate. Beats that come evenly
 * all through the window leave no room for one; breathing makes their pulses weak.
 */
export function leavesOutRun(count: Count, rate: f32): bool {
  if (count.likeness <= REST.RUN_LIKENESS || count.withRuns <= rate + RATE.ALIKE) return false;
  return count.variation > REST.EVEN_RHYTHM || count.edge > REST.USUAL_EDGE;
}

/** Whether weak pulses that were not counted may be premature beats, each after a normal one. */
function isFollowed(count: Count): bool {
  return count.followed >= REST.FOLLOWED;
}

/**
 * A confidence at rest, less the doubt of a rate that leaps from window to window, which is known less well.
 * @param step difference of the value from this window's own rate
 */
export function doubted(confidence: f32, step: f32): f32 {
  return lessOdds(confidence, REST.STEP_DOUBT * max<f32>(0, abs<f32>(step) - REST.USUAL_STEP));
}

/**
 * A confidence in a rate, if it is that of the counted beats, less the doubt of beats that come at irregular times while an upstroke that
 * does not count is nearly as steep as one that does: as in atrial fibrillation, some pulses may be too weak to be told from noise.
 */
export function doubtedCount(count: Count, confidence: f32, rate: f32): f32 {
  if (abs<f32>(count.rate - rate) > RATE.ALIKE) return confidence;
  const doubtful = count.disorder * min<f32>(1, count.margin);
  const less = lessOdds(confidence, REST.WEAK_DOUBT * max<f32>(0, doubtful - REST.USUAL_WEAK));
  return max(min(confidence, RATE.SUPPORTED), less); // other beats may be missed, but these were found
}

function lessOdds(confidence: f32, doubt: f32): f32 {
  return confidence / (confidence + (<f32>1 - confidence) * Mathf.exp(doubt));
}

function unlikeness(count: Count): f32 {
  return Mathf.log(max<f32>(REST.LEAST_UNLIKENESS, <f32>1 + REST.LEAST_UNLIKENESS - count.likeness));
}

/** Difference from another rate, in parts of `most` bpm, at most one. */
function difference(count: Count, other: f32, most: f32): f32 {
  return min<f32>(1, abs<f32>(count.rate - other) / most);
}

/** How far the rate is below SLOW_RATE, tens of bpm: every second beat may have no pulse. */
function slowness(count: Count): f32 {
  return max<f32>(0, (REST.SLOW_RATE - count.rate) * <f32>0.1);
}

/** How far something is beyond what is usual, two at most. */
function excess(x: f32, usual: f32): f32 {
  return max<f32>(0, min<f32>(2, x - usual));
}

/** Beats must fill the window, as those of a random walk do not; in motion they are the motion's, and tell nothing. */
function covered(cover: f32, motion: f32): f32 {
  return motion + (<f32>1 - motion) * ramp<f32>(cover, QUALITY.LEAST_COVER, QUALITY.ENOUGH_COVER);
}

/** Half a window has half the beats: between 0.5 and 1, by the fullest optical channel. */
function filled(window: PulseWindow): f32 {
  return <f32>0.5 + <f32>0.5 * fullness(window);
}

/** 1 where an optical channel keeps off its extremes, 0 where all are between rails for 60 % of the window. */
function unclipped(window: PulseWindow): f32 {
  let least: f32 = 1;
  for (let lane = 0; lane < 4; lane++)
    if (window.held[lane] >= LOADING.LEAST_HELD) least = min(least, window.clipped[lane]);
  return ramp<f32>(<f32>1 - least, QUALITY.LEAST_FREE, QUALITY.ENOUGH_FREE);
}

/**
 * 1 where an optical channel swings at a pulse's pace, 0 where all of them only drift, hum, stand still or leap: nothing
 * but the leakage of the drift, the beat of the hum with the grid, the last bit or a leap's ringing is in the pulse's
 * band then.
 */
function paced(window: PulseWindow): f32 {
  let most: f32 = 0;
  for (let lane = 0; lane < 4; lane++) {
    if (window.held[lane] < LOADING.LEAST_HELD) continue;
    const drifts = Mathf.sqrt(window.swings[lane]) / QUALITY.LEAST_SWING - <f32>1;
    const hums = (QUALITY.MOST_JUMP - window.jumps[lane]) * QUALITY.JUMP_STEEPNESS;
    const stands = (QUALITY.MOST_STILL - window.still[lane]) * QUALITY.STILL_STEEPNESS;
    const leaps = (window.even[lane] - QUALITY.LEAST_EVEN) * QUALITY.EVEN_STEEPNESS;
    most = max(most, min(min(drifts, hums), min(stands, leaps)));
  }
  return min<f32>(1, most);
}

/** Share of the pulse's power near the rate and its double. */
function concentration(spectra: Spectra, bpm: f32): f32 {
  const width = REST.LINE_WIDTH;
  return shareNear(spectra.pulse, bpm, width) + shareNear(spectra.pulse, bpm + bpm, width);
}
