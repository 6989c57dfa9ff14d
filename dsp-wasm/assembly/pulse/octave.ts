import { FFT_MAX, turnCos, turnSin } from '../math/fft';
import { BINS, PulseState } from '../memory/pulse_state';
import { FIRST_BIN, HIGHEST, Line, LOWEST, POINTS, Spectra, WINDOW_SECONDS } from './records';
import { amplitudeGain, binOf, lineAt, opticalPower, residualAt } from './spectrum';
import { lineNear } from './tracker';
import { OCTAVE, RATE, SPECTRUM } from './tuning';

/**
 * Whether half or double of a rate, or the rate that was trusted last, explains the light as well. Harmonics of one pulse keep in step: the
 * phase of one, less twice that of the line at half its rate, stays as it is from window to window, whatever the rate does. The lines of
 * two rhythms, as of a pulse and of legs that pedal half as fast, drift apart.
 */

/** The lines at half a rate and at its double. */
const HALF = changetype<Line>(memory.data(offsetof<Line>(), 16));
const DOUBLE = changetype<Line>(memory.data(offsetof<Line>(), 16));

/** Whether two rates, or two intervals, count as the same. */
export function isSame(a: f32, b: f32): bool {
  return abs<f32>(a - b) <= OCTAVE.SAME_RATE * max<f32>(a, b);
}

/**
 * Notes the lines at a rate, its half and its double, of one optical channel. Must come once a window.
 * @param unrest distance of the rate from its running mean, tens of bpm: what was seen of another rate is forgotten
 * @param anew whether the windows before are of another run
 * @param line the line at the rate
 */
export function noteHarmonics(
  state: PulseState,
  spectra: Spectra,
  lane: i32,
  bpm: f32,
  unrest: f32,
  anew: bool,
  line: Line,
): void {
  loadLine(spectra, lane, <f32>0.5 * bpm, HALF);
  loadLine(spectra, lane, bpm, line);
  loadLine(spectra, lane, bpm + bpm, DOUBLE);
  const size = line.size;
  const keep: f32 = anew ? 0 : <f32>1 - min<f32>(1, max<f32>(RATE.LESS_CLEAR, RATE.RESTLESS * unrest * unrest));
  state.linePower = keep * state.linePower + size * size;
  state.halfSizes = keep * state.halfSizes + HALF.size * size;
  state.lockedRe = keep * state.lockedRe + inStepRe(DOUBLE, line);
  state.lockedIm = keep * state.lockedIm + inStepIm(DOUBLE, line);
  state.halfRe = keep * state.halfRe + inStepRe(line, HALF);
  state.halfIm = keep * state.halfIm + inStepIm(line, HALF);
}

/** A line turned back by twice the phase of another, times the other's size. */
function inStepRe(double: Line, line: Line): f32 {
  const re = line.re * line.re - line.im * line.im;
  return (double.re * re + <f32>2 * double.im * line.re * line.im) / line.size;
}

function inStepIm(double: Line, line: Line): f32 {
  const re = line.re * line.re - line.im * line.im;
  return (double.im * re - <f32>2 * double.re * line.re * line.im) / line.size;
}

/** Amplitude of the second harmonic in step with the line, against the line's. */
export function secondInStep(state: PulseState): f32 {
  return hypot(state.lockedRe, state.lockedIm) / max<f32>(state.linePower, 1e-20);
}

/**
 * Whether half the rate has a line in step with the rate's: then each second beat may be a second wave, or each second one weak. In motion it
 * counts as far as no axis has it, too, however little of it is in step.
 */
export function hasHalf(state: PulseState, bpm: f32, moving: bool): bool {
  const half: f32 = <f32>0.5 * bpm;
  if (half < <f32>LOWEST) return false;
  const inStep = hypot(state.halfRe, state.halfIm);
  const seen = OCTAVE.HALF_SEEN * state.linePower;
  if (moving) return inStep * (<f32>1 - min<f32>(1, state.loudestMean[binOf(half)])) > seen;
  // In less than two windows' lengths anything seems to be in step
  return state.phasesKnown >= 2 * WINDOW_SECONDS && inStep > max<f32>(seen, OCTAVE.HALF_IN_STEP * state.halfSizes);
}

/** Whether the line of a rate at rest is faint beside one above the range, of which it is half, or what sampling makes of its harmonics. */
export function hasFaster(spectra: Spectra, lane: i32, bpm: f32): bool {
  let above: f32 = 0;
  for (let k = binOf(<f32>HIGHEST) + 1; k < BINS; k++) above = max(above, opticalPower(spectra, lane, k));
  return lineAt(spectra, lane, bpm) < OCTAVE.HALF_SEEN * OCTAVE.HALF_SEEN * above;
}

/**
 * Whether a rate in motion may be the second or third harmonic of a pulse that the motion covers, or cancels, as its cadence is the same: an axis has a
 * line there. Not where the rate goes on from a trusted one.
 */
export function hidesSlower(state: PulseState, bpm: f32): bool {
  if (state.sureRate > 0 && abs<f32>(bpm - state.sureRate) <= RATE.MOST_CHANGE + state.unsure) return false;
  for (let n = 2; n <= 3; n++) {
    const part = bpm / <f32>n;
    const isLine = state.loudestMean[binOf(part)] > OCTAVE.HALF_SEEN * OCTAVE.HALF_SEEN;
    if (part + part < SPECTRUM.SWING_DOUBLE || !isLine) continue;
    if (abs<f32>(<f32>n * lineNear(state.loudestMean, part, RATE.LINE_REACH) - bpm) <= RATE.LINE_REACH) return true;
  }
  return false;
}

/**
 * Whether the rate that was trusted last may still be the pulse's: if it was the double, each second beat may have lost its pulse, as a premature
 * beat does (Houghton and Gray, Making Sense of the ECG: Cases for Self-Assessment, case 43), or legs that pedal half as fast may cover the
 * pulse; if the light still has its line, one of the two is a movement's. A heart that slows down passes through the rates between.
 */
export function hasOldLine(state: PulseState, spectra: Spectra, lane: i32, bpm: f32, moving: bool): bool {
  const old = state.sureRate;
  if (old === 0 || abs<f32>(bpm - old) <= RATE.MOST_CHANGE) return false;
  if (isSame(old, bpm + bpm)) return true;
  // In motion a heart changes by about 1 bpm a second
  if (moving && abs<f32>(bpm - old) > RATE.MOST_CHANGE + state.unsure) return true;
  return powerAt(spectra, lane, old, moving) * old > OCTAVE.OLD_LINE_SEEN * powerAt(spectra, lane, bpm, moving) * bpm;
}

/** Notes whether a rate is trusted; the last trusted one is forgotten after a while. */
export function noteTrust(state: PulseState, bpm: f32, trusted: bool, anew: bool): void {
  if (anew) state.sureRate = 0;
  state.unsure = trusted ? 0 : state.unsure + 1;
  if (trusted) state.sureRate = bpm;
  else if (state.unsure > OCTAVE.OLD_SECONDS) state.sureRate = 0;
}

/** Power of the light's line at a rate; in motion, of what the axes do not explain. */
function powerAt(spectra: Spectra, lane: i32, bpm: f32, moving: bool): f32 {
  return max<f32>(moving ? residualAt(spectra, lane, bpm) : lineAt(spectra, lane, bpm) / bpm, 1e-20);
}

function loadLine(spectra: Spectra, lane: i32, bpm: f32, to: Line): void {
  const k = max(FIRST_BIN, min(BINS - 1, binOf(bpm)));
  const at = spectra.optical.at(2 * k) + ((<usize>lane) << 2);
  const x = load<f32>(at);
  const y = load<f32>(at, 16);
  // From the first of the points to their middle
  const turn = (k * (POINTS - 1) * (FFT_MAX / 4)) / POINTS;
  const gain = amplitudeGain(k);
  const cos = gain * turnCos(turn);
  const sin = gain * turnSin(turn);
  to.re = x * cos - y * sin;
  to.im = y * cos + x * sin;
}

export function hypot(x: f32, y: f32): f32 {
  return Mathf.sqrt(x * x + y * y);
}
