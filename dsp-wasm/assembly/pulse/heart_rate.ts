import { TRUSTED } from '../grid/tuning';
import { clearFeatures } from '../memory/features';
import { Estimate } from '../memory/map';
import { PulseState, STATES_ROW } from '../memory/pulse_state';
import { Row } from '../memory/row';
import { Session } from '../memory/session';
import { hasSecond, isMovement, learnRest, movedAlike } from './artefact';
import { findBeats } from './beats';
import { CANDIDATES, likelihoodShare, scoreCandidates } from './candidates';
import {
  beliefIn,
  clarity,
  concentration,
  doubted,
  hasMidway,
  isAlternating,
  isContradicted,
  isMissing,
  isPlausible,
  leavesOutRun,
  likelihoodOf,
  motionConfidence,
  restConfidence,
} from './confidence';
import { countBeats } from './count';
import { isLamp } from './flicker';
import { hasFaster, hasHalf, hasOldLine, hidesSlower, noteHarmonics, noteTrust } from './octave';
import { Beats, Count, Line, PulseWindow, Spectra, Tracked, WINDOW_SECONDS } from './records';
import { unexplainedAt } from './residual';
import { apartFromMotion, pulseSpectrum, resetSpectrum } from './spectrum';
import { findTracked, lineNear, massNear, resumeTrack, updateTrack } from './tracker';
import { ARTEFACT, CANDIDATE, COUNT, LOADING, MOTION, OCTAVE, RATE, REST, SPECTRUM, TRACK } from './tuning';
import { fullness, loadWindow } from './window';

const window = new PulseWindow();
const spectra = new Spectra();
const scores = changetype<Row<f32>>(memory.data((CANDIDATES + 4) * 4, 16));
const likelihood = changetype<Row<f32>>(memory.data(STATES_ROW * 4, 16));
const tracked = new Tracked();
const beats = new Beats();
const count = new Count();
const line = new Line();

/** Heart rate from the optical channels of the window that ends at `end`: writes bpm and confidence; false for none. */
export function estimateHrPpg(session: Session, end: f64, to: Estimate): bool {
  const state = session.pulse;
  if (!loadWindow(session, end, window)) return false;
  knowRest(state, window);
  const anew = resumeTrack(state, end);
  if (anew) {
    resetSpectrum(state);
    state.expected = 0;
  }
  if (!pulseSpectrum(session, window, spectra)) return false;
  const moving = window.motion > SPECTRUM.MOVING;
  if (moving) scoreCandidates(spectra, fullness(window), scores);
  updateTrack(state, spectra.pulse, window.motion, scores, likelihood);
  findTracked(state, tracked);
  findBeats(window, tracked.rate, beats);
  const apart = apartFromMotion(state, tracked.rate, window.motion);
  noteMotion(state, spectra, scores, tracked.rate, moving, anew);
  const restless = unrest(state, tracked.rate, anew);
  noteApart(state, apart, restless, anew);
  if (moving) answerInMotion(session, restless, anew, to);
  else answerAtRest(session, restless, anew, to);
  const trusted = to.confidence >= TRUSTED;
  noteTrust(state, state.value, trusted, anew);
  if (trusted) state.expected = state.value;
  to.value = <f64>state.value;
  return true;
}

/** Rest is known where an accelerometer shows it; one that stops, or is stuck, may have done so in motion. */
function knowRest(state: PulseState, window: PulseWindow): void {
  if (window.allAxes) state.known = 1;
  else if (!window.hasAxes && state.known === 1) state.known = 0;
}

/**
 * Whether another rate explains the light as well as this one.
 * @param alternating whether the beats are known to be premature by turns
 */
function isUnsure(state: PulseState, spectra: Spectra, lane: i32, rate: f32, moving: bool, alternating: bool): bool {
  if (hasOldLine(state, spectra, lane, rate, moving)) return true;
  if (moving ? hidesSlower(state, rate) : hasFaster(spectra, lane, rate)) return true;
  return !alternating && hasHalf(state, rate, moving);
}

/** Value and confidence in motion. */
function answerInMotion(session: Session, restless: f32, anew: bool, to: Estimate): void {
  const state = session.pulse;
  const confidence: f32 = isPlausible(window, true) ? motionConfidence(state, tracked) : 0;
  expectRate(state, window.motion);
  const rate = inMotion(spectra.pulse, tracked.rate, beats.rate);
  noteHarmonics(state, spectra, beats.lane, rate, restless, anew, line);
  state.value = leaning(state, rate, confidence);
  const lamp = isLamp(state, spectra.pulse, line, rate, true, anew);
  // The light may hold what a missing axis feels
  const unlike = !window.allAxes || lamp || movedAlike(session, window, spectra, tracked.rate, true);
  const felt = state.seenApart < MOTION.LEAST_APART || state.unexplained < MOTION.LEAST_UNEXPLAINED;
  const unsure = confidence < MOTION.LEAST_TRUSTED || isUnsure(state, spectra, beats.lane, rate, true, false);
  to.confidence = unlike || felt || unsure ? doubted(confidence) : confidence;
}

/** Value and confidence at rest. */
function answerAtRest(session: Session, restless: f32, anew: bool, to: Estimate): void {
  const state = session.pulse;
  noteSupport(state, massNear(likelihood, tracked.rate), restless, anew);
  countBeats(window, beats.lane, tracked.rate, count);
  const isFar = abs<f32>(beats.rate - tracked.rate) > RATE.MOST_CHANGE;
  const byLine = isFar ? lineNear(spectra.pulse, tracked.rate, RATE.LINE_REACH) : beats.rate;
  const own = chooseAtRest(state, byLine);
  const step: f32 = anew ? 0 : towards(state.value, own, count.found ? blur(count) : RATE.VALUE_MEMORY);
  const rate = isIrregular(count) ? own : own + step;
  noteHarmonics(state, spectra, beats.lane, rate, restless, anew, line);
  const lane = beats.lane;
  const confidence: f32 = isPlausible(window, false) ? restConfidence(likelihood, tracked, count, own, step) : 0;
  const before = anew ? rate : state.value;
  state.value = leaning(state, rate, confidence);
  const settled = hasSettled(state, before, anew);
  const lamp = isLamp(state, spectra.pulse, line, rate, false, anew);
  // What a resting wrist with all axes does not feel does not move the light
  const moves = !window.allAxes || window.motion > SPECTRUM.FELT_MOTION;
  // A pulse of little oxygen moves both lights alike, too: it goes on from one that was trusted
  const goesOn = state.sureRate > 0 && abs<f32>(rate - state.sureRate) <= ARTEFACT.GOES_ON;
  const alike = moves && !goesOn && movedAlike(session, window, spectra, rate, false);
  const moved = alike || isMovement(state, window, spectra, count, rate, concentration(spectra, own));
  const felt = state.seenApart < MOTION.LEAST_APART;
  const plain = window.hasAxes && !hasSecond(spectra, lane, rate);
  const missed = hasMidway(state, count, own) || isMissing(count, tracked.rate, own) || isContradicted(count, own);
  const unsure = !settled || isUnsure(state, spectra, lane, rate, false, isAlternating(count));
  const whole = fullness(window) >= ARTEFACT.WHOLE;
  // The pulse may have paused at an end of the window, or the sensor lost it
  const paused = whole && count.edge > COUNT.LONGEST_EDGE;
  // A pause is a beat without a pulse or a blocked beat: of several, the rate is too uncertain
  const unlikely = moved || felt || lamp || plain || missed || unsure || paused || count.lost > COUNT.MOST_GUESSED;
  const doubtful = mayHaveRun(state, rate, !unlikely && confidence >= TRUSTED && whole, anew) || unlikely;
  to.confidence = doubtful ? doubted(confidence) : confidence;
  if (doubtful) clearFeatures();
  learnRest(state, window, spectra, to.confidence >= TRUSTED);
}

/**
 * Whether the window may hold a run of beats that its rate leaves out. Nothing shows a run that has only begun or is too weak, so one is
 * also expected for some time after another was seen in an otherwise regular rhythm.
 * @param clear whether the window is whole, and nothing else makes it doubtful
 */
function mayHaveRun(state: PulseState, rate: f32, clear: bool, anew: bool): bool {
  const run = leavesOutRun(count, rate);
  const since = anew ? OCTAVE.OLD_SECONDS : state.sinceRun + 1;
  state.runWindows = run && clear && count.steadiness < RATE.IRREGULAR ? state.runWindows + 1 : 0;
  state.sinceRun = state.runWindows >= WINDOW_SECONDS / 2 ? 0 : min<f32>(OCTAVE.OLD_SECONDS, since);
  return run || state.sinceRun < OCTAVE.OLD_SECONDS;
}

/** Whether the value has not changed by more than that of one rhythm can, from the value `before` or in the windows before that. */
function hasSettled(state: PulseState, before: f32, anew: bool): bool {
  const changed = abs<f32>(state.value - before) > RATE.MOST_CHANGE;
  state.settled = anew ? RATE.SETTLED : changed ? 0 : min(RATE.SETTLED, state.settled + 1);
  return state.settled >= RATE.SETTLED;
}

/** The more likely of two: the rate by line and period, which a regular rhythm has, or that of the counted beats. */
function chooseAtRest(state: PulseState, byLine: f32): f32 {
  if (!count.found) return byLine;
  if (abs<f32>(count.rate - byLine) <= RATE.ALIKE) {
    const share: f32 = count.variation > RATE.IRREGULAR ? 0 : blur(count);
    return count.rate + share * (byLine - count.rate);
  }
  return odds(state, count.rate, byLine) > 0 ? count.rate : byLine;
}

/** Log odds that the counted rate is right rather than the one by line and period. */
function odds(state: PulseState, counted: f32, byLine: f32): f32 {
  const missed = <f32>(<i32>isMissing(count, tracked.rate, counted) - <i32>isMissing(count, tracked.rate, byLine));
  const difference = evidenceFor(state, counted) - evidenceFor(state, byLine);
  return RATE.OF_COUNT * (clarity(count) - missed) + difference;
}

/** How much the track, the likelihood and the spectrum say for a rate, logarithms. */
function evidenceFor(state: PulseState, rate: f32): f32 {
  return beliefIn(state, rate) + likelihoodOf(likelihood, rate) + concentration(spectra, rate);
}

/** Notes the likelihood's share at the tracked rate, of late; what was seen of another rate says nothing of this one. */
function noteSupport(state: PulseState, share: f32, unrest: f32, anew: bool): void {
  const before = anew ? share : state.restSupport;
  const fresh = min<f32>(1, max<f32>(RATE.SUPPORT_RISE, RATE.RESTLESS * unrest * unrest));
  state.restSupport = before + fresh * (share - before);
}

/** Share of line and past in the value: the error of the counted beats' times in grid samples, at most VALUE_MEMORY. */
function blur(count: Count): f32 {
  return min<f32>(RATE.VALUE_MEMORY, count.jitter);
}

/** Step towards the value before, if it is of the same run: one farther off was wrong, or this is. */
function towards(before: f32, value: f32, blur: f32): f32 {
  const change = before - value;
  return abs<f32>(change) > RATE.MOST_CHANGE ? 0 : blur * change;
}

/** Whether it is the rhythm that varies: upstrokes that are alike are timed sharply, and the value before is of other beats. */
function isIrregular(count: Count): bool {
  return count.variation > RATE.IRREGULAR && count.likeness > REST.RUN_LIKENESS;
}

/** In motion beats and lines stray and the track lags: the mean of those that are there does less of either. */
function inMotion(pulse: Row<f32>, tracked: f32, beats: f32): f32 {
  let sum = tracked + lineNear(pulse, tracked, RATE.LINE_REACH);
  let count: f32 = 2;
  // The second harmonic's line is twice as sharp
  const double = lineNear(pulse, tracked + tracked, RATE.LINE_REACH + RATE.LINE_REACH);
  if (double !== tracked + tracked) {
    sum += <f32>0.5 * double;
    count++;
  }
  if (abs<f32>(beats - tracked) <= RATE.LINE_REACH) {
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
  const acceleration = <f32>LOADING.MOTION_G * sqrt<f32>(motion / (<f32>1 - motion));
  const target = min<f32>(RATE.EXERCISE_RATE, <f32>TRACK.USUAL_RATE + RATE.RATE_PER_G * acceleration);
  state.expected += RATE.RESPONSE * (target - state.expected);
}

/** A rate that hardly anything speaks for, as while the motion covers the pulse or the sensor loses it, leans towards the expected one. */
function leaning(state: PulseState, rate: f32, confidence: f32): f32 {
  if (state.expected === 0) return rate;
  return state.expected + min<f32>(1, confidence / <f32>TRUSTED) * (rate - state.expected);
}

/** A pulse that crosses the motion's line is believed for as long as it was seen beside it not long ago. */
function noteApart(state: PulseState, apart: f32, unrest: f32, anew: bool): void {
  const before = anew ? apart : state.seenApart;
  const share =
    apart > before ? SPECTRUM.MEMORY : min<f32>(1, max<f32>(RATE.LESS_CLEAR, RATE.RESTLESS * unrest * unrest));
  state.seenApart = before + share * (apart - before);
}

/**
 * Notes how much of the likelihood the tracked rate had of late, and how much of its line the axes did not explain; -1 at rest. Belief alone
 * stays where nothing speaks against it. A pulse that has vanished is doubted sooner than one that has come back is believed.
 */
function noteMotion(
  state: PulseState,
  spectra: Spectra,
  scores: Row<f32>,
  tracked: f32,
  moving: bool,
  anew: bool,
): void {
  if (!moving) {
    state.support = -1;
    state.unexplained = -1;
    return;
  }
  const share = likelihoodShare(scores, tracked);
  const support = anew || state.support < 0 ? share : state.support;
  state.support = support + (share < support ? CANDIDATE.TEMPER : RATE.SUPPORT_RISE) * (share - support);
  const own = unexplainedAt(spectra, tracked);
  const unexplained = anew || state.unexplained < 0 ? own : state.unexplained;
  state.unexplained = unexplained + SPECTRUM.MEMORY * (own - unexplained);
}

/** How far the tracked rate is from its running mean, in tens of bpm. */
function unrest(state: PulseState, tracked: f32, anew: bool): f32 {
  const before = anew ? tracked : state.slowRate;
  state.slowRate = before + RATE.SLOW_SHARE * (tracked - before);
  return min<f32>(2, abs<f32>(tracked - state.slowRate) * <f32>0.1);
}
