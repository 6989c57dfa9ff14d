import { TRUSTED, USUAL_RISE } from '../grid/tuning';
import { growthOver, usualAfter } from '../grid/usual';
import { ramp } from '../math/ramp';
import { KIND_PPG_IR, KIND_PPG_RED } from '../memory/channel';
import { BINS, PulseState } from '../memory/pulse_state';
import { Session } from '../memory/session';
import { BEATS, BIN_HZ, FIRST_BIN, OPTICAL_LEVELS, OPTICAL_SCALE, POWER } from './scratch';
import { opticalPower } from './spectrum';
import {
  ARTEFACT_BIAS,
  ARTEFACT_OF_BETWEEN,
  ARTEFACT_OF_GROWTH,
  ARTEFACT_OF_RATE,
  ARTEFACT_OF_RATIO,
  ARTEFACT_OF_SKEW,
  FAINTEST,
  FAST_REST,
  FASTEST_REST,
  LEAST_ARTEFACT,
  MOST_SKEW,
  MOVEMENT_RATIO,
  MOVING_GROWTH,
  NO_SECOND,
  PULSE_RATIO,
  SECOND,
  SECOND_SEEN,
  SLOW_REST,
  SLOWEST_REST,
  SURE_ARTEFACT,
  WHOLE,
} from './tuning';
import { fullness } from './window';

/**
 * A movement that no accelerometer shows moves the light in rhythm, too. A pulse rises faster than it falls, has no line halfway
 * between its rate and the double, as an arm has that swings once in two steps, and does not suddenly become many times as large.
 * It also has a second harmonic. A lamp or a screen that blinks over a sensor on the table, the beat of its flicker with the
 * sampling, or an arm that swings evenly has hardly any: what comes down as it went up, half a period later, has only odd ones.
 * This is asked of devices with an accelerometer only: sensors without one often give a filtered light, near to a sine.
 */

/**
 * Whether the light has a pulse's waveform, from 0 for what may be a movement's to 1; asked once a window at rest,
 * after findBeats.
 * @param bpm the rate
 * @param skew skewness of the slopes, upstrokes above zero; 0 where no beats are counted
 * @param belief its confidence otherwise: only a trusted pulse tells what height is usual
 * @param hasAxes whether the device has an accelerometer
 * @param felt how much of a movement the accelerometer may feel, from 0 to 1; 1 without it
 */
export function pulseLike(session: Session, bpm: f32, skew: f32, belief: f32, hasAxes: bool, felt: f32): f32 {
  const state = session.pulse;
  const learn = <f64>belief >= TRUSTED;
  const lane = max(0, BEATS.best) & 3;
  const between = Mathf.log((lineAt(lane, <f32>1.5 * bpm) + FAINTEST) / (lineAt(lane, bpm) + FAINTEST));
  let odds = ARTEFACT_BIAS + ARTEFACT_OF_BETWEEN * between + ARTEFACT_OF_GROWTH * growth(state, learn);
  odds += ARTEFACT_OF_SKEW * min<f32>(MOST_SKEW, skew);
  odds += ARTEFACT_OF_RATE * unusual(bpm) * (<f32>1 - state.known);
  odds += ARTEFACT_OF_RATIO * felt * movedAlike(session, bpm, false);
  if (learn) state.known += <f32>USUAL_RISE * (<f32>1 - state.known);
  const like: f32 = <f32>1 - ramp<f32>(odds, LEAST_ARTEFACT, SURE_ARTEFACT);
  return hasAxes ? min<f32>(like, secondHarmonic(lane, bpm)) : like;
}

/** Whether a rate has its second harmonic, from 0 to 1; 1 for a rate too fast to tell. */
function secondHarmonic(lane: i32, bpm: f32): f32 {
  if (bpm > SECOND_SEEN) return 1;
  return ramp<f32>((lineAt(lane, bpm + bpm) + FAINTEST) / (lineAt(lane, bpm) + FAINTEST), NO_SECOND, SECOND);
}

/** Whether a rate is unusual at rest, from 0 to 1: the height of a light that has always moved tells nothing. */
function unusual(bpm: f32): f32 {
  const slow = <f32>1 - ramp<f32>(bpm, SLOWEST_REST, SLOW_REST);
  return max<f32>(slow, ramp<f32>(bpm, FAST_REST, FASTEST_REST));
}

/**
 * Whether the ratio of red to infrared (spo2/ratio.ts) at a rate is a movement's, from 0 to 1: it moves both lights alike, by about the same
 * part of their level, whereas a pulse moves red less.
 * @param motion whether to ask what the axes do not explain
 */
export function movedAlike(session: Session, bpm: f32, motion: bool): f32 {
  let red: f32 = 0;
  let infrared: f32 = 0;
  for (let lane = session.opticalCount - 1; lane >= 0; lane--) {
    const kind = session.opticals[lane].channel.kind;
    if (kind === KIND_PPG_RED) red = relativePower(lane, bpm, motion);
    if (kind === KIND_PPG_IR) infrared = relativePower(lane, bpm, motion);
  }
  return infrared > 0 ? ramp<f32>(Mathf.sqrt(red / infrared), PULSE_RATIO, MOVEMENT_RATIO) : 0;
}

/** The strongest bin at a rate, or beside it, of what the axes do not explain of an optical channel, in motion (residualPowers). */
export function residualAt(lane: i32, bpm: f32): f32 {
  const k = binOf(bpm);
  const at = POWER.at(k) + ((<usize>lane) << 2);
  return max(max(load<f32>(at - 16), load<f32>(at)), load<f32>(at, 16));
}

/** Power of an optical channel's line at a rate, relative to its level; 0 for a channel that is not used, or has lost its level. */
function relativePower(lane: i32, bpm: f32, motion: bool): f32 {
  const level = OPTICAL_LEVELS[lane];
  if (OPTICAL_SCALE[lane] === 0 || level === 0) return 0;
  const power: f32 = motion ? residualAt(lane, bpm) : lineAt(lane, bpm) / OPTICAL_SCALE[lane];
  return power / (level * level);
}

/** Guesses the usual height of a session that begins in motion, where the accelerometer shows it. */
export function guessHeights(state: PulseState): void {
  if (fullness() < WHOLE) return;
  for (let lane = 0; lane < 4; lane++) {
    if (OPTICAL_SCALE[lane] === 0 || state.heights[lane] !== 0) continue;
    state.heights[lane] = height(lane) - MOVING_GROWTH;
  }
}

/** Height of an optical channel's strongest line, natural logarithm of the amplitude. */
function height(lane: i32): f32 {
  return <f32>-0.5 * Mathf.log(OPTICAL_SCALE[lane]);
}

/** The strongest bin of an optical channel at a rate, or beside it. */
export function lineAt(lane: i32, bpm: f32): f32 {
  const k = binOf(bpm);
  return max(max(opticalPower(lane, k - 1), opticalPower(lane, k)), opticalPower(lane, k + 1));
}

/** The bin of a rate that has one on each side. */
function binOf(bpm: f32): i32 {
  return max(FIRST_BIN + 1, min(BINS - 2, <i32>(bpm / (60 * BIN_HZ) + <f32>0.5)));
}

/**
 * How much higher the light's strongest line is than usual at rest, natural logarithm of the amplitudes' ratio: mean over the optical
 * channels. A window with a gap, or at the start, has a lower line.
 */
function growth(state: PulseState, learn: bool): f32 {
  if (fullness() < WHOLE) return 0;
  let sum: f32 = 0;
  let count: f32 = 0;
  for (let lane = 0; lane < 4; lane++) {
    if (OPTICAL_SCALE[lane] === 0) continue;
    const usual = state.heights[lane];
    const now = height(lane);
    sum += growthOver<f32>(usual, now);
    state.heights[lane] = usualAfter<f32>(usual, now, learn);
    count++;
  }
  return count > 0 ? sum / count : 0;
}
