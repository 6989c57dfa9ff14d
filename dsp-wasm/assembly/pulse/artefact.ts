import { USUAL_RISE } from '../grid/tuning';
import { growthOver, usualAfter } from '../grid/usual';
import { KIND_PPG_IR, KIND_PPG_RED } from '../memory/channel';
import { PulseState } from '../memory/pulse_state';
import { Session } from '../memory/session';
import { Count, PulseWindow, Spectra } from './records';
import { lineAt, residualAt } from './spectrum';
import { ARTEFACT, REST } from './tuning';
import { fullness } from './window';

/**
 * A movement that no accelerometer shows moves the light in rhythm, too. A pulse rises faster than it falls, has no line halfway
 * between its rate and the double, as an arm has that swings once in two steps, and does not suddenly become many times as large.
 * It also has a second harmonic. A lamp or a screen that blinks over a sensor on the table, the beat of its flicker with the
 * sampling, or an arm that swings evenly has hardly any: what comes down as it went up, half a period later, has only odd ones.
 * This is asked of devices with an accelerometer only: sensors without one often give a filtered light, near to a sine.
 */

/**
 * Whether the light of a window at rest may be a movement's.
 * @param rate bpm
 * @param focus logarithm of the share of the power at the rate and its harmonics
 */
export function isMovement(
  state: PulseState,
  window: PulseWindow,
  spectra: Spectra,
  count: Count,
  rate: f32,
  focus: f32,
): bool {
  let odds = ARTEFACT.BIAS + ARTEFACT.OF_SKEW * min<f32>(1, count.skew);
  odds += ARTEFACT.OF_GROWTH * min<f32>(3, max<f32>(0, growth(state, window, spectra)));
  odds += ARTEFACT.OF_UNUSUAL * unusual(state, rate) + ARTEFACT.OF_FOCUS * focus;
  odds += ARTEFACT.OF_SUPPORT * Mathf.log(state.restSupport + REST.LEAST_SHARE);
  odds += ARTEFACT.OF_VARIATION * min<f32>(0.5, count.variation);
  odds += ARTEFACT.OF_UNLIKENESS * Mathf.log(<f32>1 + REST.LEAST_SHARE - min<f32>(1, count.likeness));
  odds += ARTEFACT.OF_MARGIN * Mathf.log(count.margin);
  return odds > ARTEFACT.MOST_ODDS;
}

/** Whether a rate has its second harmonic; one that is too fast to tell counts as if it had. */
export function hasSecond(spectra: Spectra, lane: i32, bpm: f32): bool {
  if (bpm > ARTEFACT.SECOND_SEEN) return true;
  return lineAt(spectra, lane, bpm + bpm) > ARTEFACT.SECOND * lineAt(spectra, lane, bpm);
}

/** How unusual a rate is for a wearer whose rest is not known, from 0 to 1: the height of a light that has always moved tells nothing. */
function unusual(state: PulseState, bpm: f32): f32 {
  return bpm > ARTEFACT.FAST_REST ? <f32>1 - state.known : 0;
}

/**
 * Whether the ratio of red to infrared (spo2/ratio.ts) at a rate is a movement's: it moves both lights alike, by about the same part of their
 * level, whereas a pulse moves red less.
 * @param motion whether to ask what the axes do not explain
 */
export function movedAlike(session: Session, window: PulseWindow, spectra: Spectra, bpm: f32, motion: bool): bool {
  let red: f32 = 0;
  let infrared: f32 = 0;
  for (let lane = session.opticalCount - 1; lane >= 0; lane--) {
    const kind = session.opticals[lane].channel.kind;
    if (kind === KIND_PPG_RED) red = relativePower(window, spectra, lane, bpm, motion);
    if (kind === KIND_PPG_IR) infrared = relativePower(window, spectra, lane, bpm, motion);
  }
  return red > ARTEFACT.MOVEMENT_RATIO * ARTEFACT.MOVEMENT_RATIO * infrared && infrared > 0;
}

/** Power of an optical channel's line at a rate, relative to its level; 0 for a channel that is not used, or has lost its level. */
function relativePower(window: PulseWindow, spectra: Spectra, lane: i32, bpm: f32, motion: bool): f32 {
  const level = window.levels[lane];
  const scale = spectra.scale[lane];
  if (scale === 0 || level === 0) return 0;
  const power: f32 = motion ? residualAt(spectra, lane, bpm) : lineAt(spectra, lane, bpm) / scale;
  return power / (level * level);
}

/** Height of an optical channel's strongest line, natural logarithm of the amplitude. */
function height(spectra: Spectra, lane: i32): f32 {
  return <f32>-0.5 * Mathf.log(spectra.scale[lane]);
}

/**
 * How much higher the light's strongest line is than usual at rest, natural logarithm of the amplitudes' ratio: mean over the optical
 * channels. A window with a gap, or at the start, has a lower line.
 */
function growth(state: PulseState, window: PulseWindow, spectra: Spectra): f32 {
  if (fullness(window) < ARTEFACT.WHOLE) return 0;
  let sum: f32 = 0;
  let count: f32 = 0;
  for (let lane = 0; lane < 4; lane++) {
    if (spectra.scale[lane] === 0) continue;
    sum += growthOver<f32>(state.heights[lane], height(spectra, lane));
    count++;
  }
  return count > 0 ? sum / count : 0;
}

/** Notes what is usual at rest: a trusted pulse tells the height of its line, and how long the wearer has rested. */
export function learnRest(state: PulseState, window: PulseWindow, spectra: Spectra, trusted: bool): void {
  if (trusted) state.known += <f32>USUAL_RISE * (<f32>1 - state.known);
  if (fullness(window) < ARTEFACT.WHOLE) return;
  for (let lane = 0; lane < 4; lane++) {
    if (spectra.scale[lane] === 0) continue;
    state.heights[lane] = usualAfter<f32>(state.heights[lane], height(spectra, lane), trusted);
  }
}
