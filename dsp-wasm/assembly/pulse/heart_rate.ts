import { TRUSTED } from '../grid/tuning';
import { KIND_ACCEL } from '../memory/channel';
import { Estimate } from '../memory/map';
import { PulseState } from '../memory/pulse_state';
import { channelOfKind, Session } from '../memory/session';
import { guessHeights, movedAlike, pulseLike } from './artefact';
import { findBeats } from './beats';
import {
  countConfidence,
  doubted,
  doubtedCount,
  isAlternating,
  leavesOutRun,
  lineConfidence,
  pulseConfidence,
  shown,
  trustable,
} from './confidence';
import { countBeats } from './count';
import { hasEvenOnly, hasHalf, hasOldLine, noteHarmonics, noteTrust } from './harmonics';
import { likelihoodShare } from './motion';
import { unexplainedAt } from './residual';
import { COUNTED, TRACKED, Tracked } from './scratch';
import { apartFromMotion, pulseSpectrum, resetSpectrum } from './spectrum';
import { lampLike } from './tone';
import { findTracked, lineNear, resumeTrack, updateTrack } from './tracker';
import {
  ALIKE,
  BLURRED,
  CLEARER,
  EXERCISE_RATE,
  FELT_MOTION,
  IRREGULAR,
  LEAST_COUNTED,
  LESS_CLEAR,
  LINE_REACH,
  LINE_SHARE,
  MOST_GUESSED,
  MOTION_G,
  MOTION_REACH,
  MOVING,
  RATE_PER_G,
  RESPONSE,
  REST_REACH,
  RESTLESS,
  SHARP_LIKENESS,
  SLOW_SHARE,
  SUPPORT_FALL,
  SUPPORT_RISE,
  SUPPORTED,
  UNEXPLAINED_SHARE,
  USUAL_RATE,
  VALUE_MEMORY,
} from './tuning';
import { allAxesMove, loadAxes, loadOptical } from './window';

/** Heart rate from the optical channels of the window that ends at `end`: writes bpm and confidence; false for none. */
export function estimateHrPpg(session: Session, end: f64, to: Estimate): bool {
  if (!loadOptical(session, end)) return false;
  const hasAxes = loadAxes(channelOfKind(session, KIND_ACCEL), end);
  const allAxes = hasAxes && allAxesMove();
  const state = session.pulse;
  if (allAxes) state.known = 1;
  // An accelerometer that sends nothing any more, or is stuck, may have stopped in motion
  else if (!hasAxes && state.known === 1) state.known = 0;
  const anew = resumeTrack(state, end);
  if (anew) {
    resetSpectrum(state);
    state.expected = 0;
  }
  const motion = pulseSpectrum(session, hasAxes);
  if (motion < 0) return false;
  updateTrack(state, motion);
  const tracked = findTracked(state);
  const beats = findBeats(tracked.rate);
  const apart = apartFromMotion(state, tracked.rate, motion);
  findSupport(state, tracked.rate, motion, anew);
  findUnexplained(state, tracked.rate, motion, anew);
  const restless = unrest(state, tracked.rate, anew);
  const seen = seenApart(state, apart, restless, anew);
  const confidence = pulseConfidence(state, tracked, beats, motion, apart, restless);
  if (motion > MOVING) {
    expectRate(state, motion);
    guessHeights(state);
    const rate = inMotion(tracked.rate, beats.rate);
    noteHarmonics(state, rate, restless, anew);
    const own = <f32>1 - max<f32>(movedAlike(session, tracked.rate, true), lampLike(state, rate, true, anew));
    state.value = leaning(state, rate, confidence);
    // What a missing axis feels may be in the light
    to.confidence = <f64>min<f32>(confidence, trustable(allAxes && !isUnsure(state, rate, true, false) ? own : 0));
  } else {
    const line = atRest(tracked.rate, beats.rate);
    const counted = countBeats();
    const chosen = counted
      ? chooseAtRest(line, confidence, shown(beats.cover, motion, seen), seen)
      : keep(line, confidence);
    const step: f32 = anew ? 0 : towards(state.value, chosen.rate, counted ? blur() : 1);
    const rate = counted && isIrregular() ? chosen.rate : chosen.rate + step;
    const belief = counted ? doubted(chosen.belief, step) : chosen.belief;
    const felt: f32 = allAxes ? min<f32>(1, motion / FELT_MOTION) : 1;
    noteHarmonics(state, rate, restless, anew);
    const like = min<f32>(
      pulseLike(session, rate, counted ? COUNTED.skew : 0, belief, hasAxes, felt),
      <f32>1 - lampLike(state, rate, false, anew),
    );
    const trusted = counted ? doubtedCount(belief, chosen.rate) : belief;
    state.value = leaning(state, rate, trusted);
    // A pause is a beat without a pulse or a blocked beat: of several, the rate is too uncertain
    const guessed = counted && (COUNTED.lost > MOST_GUESSED || leavesOutRun(rate));
    to.confidence = <f64>(
      min<f32>(trusted, trustable(guessed || isUnsure(state, rate, false, counted && isAlternating()) ? 0 : like))
    );
  }
  const trusted = to.confidence >= TRUSTED;
  noteTrust(state, state.value, trusted, anew);
  if (trusted) state.expected = state.value;
  to.value = <f64>state.value;
  return true;
}

/**
 * Whether another rate explains the light as well as this one.
 * @param alternating whether the beats are known to be premature by turns
 */
function isUnsure(state: PulseState, rate: f32, moving: bool, alternating: bool): bool {
  if (hasEvenOnly(rate, moving) || hasOldLine(state, rate, moving)) return true;
  return !alternating && hasHalf(state, rate, moving);
}

/** The more likely of two: the rate by line and period, which a regular rhythm has, or that of the counted beats (COUNTED). */
function chooseAtRest(rate: f32, confidence: f32, lineShown: f32, seen: f32): Tracked {
  const counted = countConfidence(rate, seen);
  const line = lineConfidence(rate, confidence) * lineShown;
  if (abs<f32>(COUNTED.rate - rate) <= ALIKE) {
    const share: f32 = COUNTED.variation > IRREGULAR ? 0 : LINE_SHARE * blur();
    const mean = COUNTED.rate + share * (rate - COUNTED.rate);
    return keep(mean, max(counted, line));
  }
  return counted > max(LEAST_COUNTED, line) ? keep(COUNTED.rate, counted) : keep(rate, line);
}

/** Writes TRACKED. */
function keep(rate: f32, belief: f32): Tracked {
  TRACKED.rate = rate;
  TRACKED.belief = belief;
  return TRACKED;
}

/** At rest the beats tell the window's rate best. */
function atRest(tracked: f32, beats: f32): f32 {
  return abs<f32>(beats - tracked) > REST_REACH ? lineNear(tracked, LINE_REACH) : beats;
}

/** How uncertain the times of the counted beats are, from 0 to 1. */
function blur(): f32 {
  return min<f32>(1, COUNTED.jitter / BLURRED);
}

/** Step towards the value before, if it is of the same run: one farther off was wrong, or this is. */
function towards(before: f32, value: f32, blur: f32): f32 {
  const change = before - value;
  return abs<f32>(change) > REST_REACH ? 0 : VALUE_MEMORY * blur * change;
}

/** Whether it is the rhythm that varies: upstrokes that are alike are timed sharply, and the value before is of other beats. */
function isIrregular(): bool {
  return COUNTED.variation > IRREGULAR && COUNTED.likeness > SHARP_LIKENESS;
}

/** In motion beats and lines stray and the track lags: the mean of those that are there does less of either. */
function inMotion(tracked: f32, beats: f32): f32 {
  let sum = tracked + lineNear(tracked, LINE_REACH);
  let count: f32 = 2;
  // The second harmonic's line is twice as sharp
  const double = lineNear(tracked + tracked, LINE_REACH + LINE_REACH);
  if (double !== tracked + tracked) {
    sum += <f32>0.5 * double;
    count++;
  }
  if (abs<f32>(beats - tracked) <= MOTION_REACH) {
    sum += beats;
    count++;
  }
  return sum / count;
}

/**
 * Moves the expected rate, if one was trusted before, towards that of the exercise. It grows with the acceleration of the wrist (Hildebrand
 * et al., Med Sci Sports Exerc 46:1816, 2014), by a response of first order (Bunc et al., J Sports Sci 6:39, 1988).
 */
function expectRate(state: PulseState, motion: f32): void {
  if (state.expected === 0) return;
  const acceleration = <f32>MOTION_G * sqrt<f32>(motion / (<f32>1 - motion));
  const target = min<f32>(EXERCISE_RATE, <f32>USUAL_RATE + RATE_PER_G * acceleration);
  state.expected += RESPONSE * (target - state.expected);
}

/** A rate that hardly anything speaks for, as while the motion covers the pulse or the sensor loses it, leans towards the expected one. */
function leaning(state: PulseState, rate: f32, confidence: f32): f32 {
  if (state.expected === 0) return rate;
  return state.expected + min<f32>(1, confidence / SUPPORTED) * (rate - state.expected);
}

/** A pulse that crosses the motion's line is believed for as long as it was seen beside it not long ago. */
function seenApart(state: PulseState, apart: f32, unrest: f32, anew: bool): f32 {
  const before = anew ? apart : state.seenApart;
  const share = apart > before ? CLEARER : min<f32>(1, max<f32>(LESS_CLEAR, RESTLESS * unrest * unrest));
  state.seenApart = before + share * (apart - before);
  return state.seenApart;
}

/**
 * How much of the likelihood the tracked rate had of late: belief alone stays where nothing speaks against it. A pulse that
 * has vanished is doubted sooner than one that has come back is believed.
 */
function findSupport(state: PulseState, tracked: f32, motion: f32, anew: bool): void {
  if (motion <= MOVING) {
    state.support = -1;
    return;
  }
  const share = likelihoodShare(tracked);
  const before = anew || state.support < 0 ? share : state.support;
  state.support = before + (share < before ? SUPPORT_FALL : SUPPORT_RISE) * (share - before);
}

/** How much of the line at the tracked rate the axes did not explain of late, in motion. */
function findUnexplained(state: PulseState, tracked: f32, motion: f32, anew: bool): void {
  if (motion <= MOVING) {
    state.unexplained = -1;
    return;
  }
  const share = unexplainedAt(tracked);
  const before = anew || state.unexplained < 0 ? share : state.unexplained;
  state.unexplained = before + UNEXPLAINED_SHARE * (share - before);
}

/** How far the tracked rate is from its running mean, in tens of bpm. */
function unrest(state: PulseState, tracked: f32, anew: bool): f32 {
  const before = anew ? tracked : state.slowRate;
  state.slowRate = before + SLOW_SHARE * (tracked - before);
  return min<f32>(2, abs<f32>(tracked - state.slowRate) * <f32>0.1);
}
