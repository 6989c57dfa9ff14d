import { FFT_MAX, turnCos, turnSin } from '../math/fft';
import { ramp } from '../math/ramp';
import { BINS, PHASES, PulseState } from '../memory/pulse_state';
import { besideLine } from './confidence';
import { BEATS, BIN_HZ, FIRST_BIN, OPTICAL_FFT, POINTS, WINDOW_SECONDS } from './scratch';
import { amplitudeGain } from './spectrum';
import {
  ADVANCES,
  IN_STEP,
  LITTLE_ELSE,
  LOCK_SHARE,
  MUCH_ELSE,
  OUT_OF_STEP,
  SECOND_SEEN,
  STEADIEST,
  STEADY,
} from './tuning';

/**
 * The flicker of a lamp or a screen, seen through the sampling, may be a line among the pulse's, and as high as the pulse, which is there
 * beside it. It is a sine of one frequency. The rate of a heart wanders; what keeps it even, as a pacemaker or a simulator does, still
 * leaves the pulse its shape: a second harmonic in step with the pulse, which shows in the mean over many windows, however faint it is.
 */

/** The line of one window: its phase is that at the window's middle. */
let re: f32 = 0;
let im: f32 = 0;

/**
 * Whether the light's line at a rate is a lamp's, from 0 to 1. Must come once a window, after findBeats. At rest a steady sine alone,
 * with nothing beside it, may be a device's test.
 * @param anew whether the windows before are of another run
 */
export function lampLike(state: PulseState, bpm: f32, moving: bool, anew: bool): f32 {
  if (anew) state.phasesKnown = 0;
  const lane = max(0, BEATS.best) & 3;
  loadLine(lane, bpm + bpm);
  const doubleRe = re;
  const doubleIm = im;
  loadLine(lane, bpm);
  const size = max<f32>(hypot(re, im), 1e-20);
  notePhase(state, size);
  noteDouble(state, size, doubleRe, doubleIm);
  const locked = hypot(state.lockedRe, state.lockedIm) / max<f32>(state.linePower, 1e-20);
  const plain: f32 = <f32>1 - ramp<f32>(locked, OUT_OF_STEP, IN_STEP);
  // Most pulses end here, and save the rest
  if (bpm > SECOND_SEEN || plain === 0) return 0;
  const beside: f32 = moving ? 1 : ramp<f32>(besideLine(bpm), LITTLE_ELSE, MUCH_ELSE);
  return min<f32>(min<f32>(plain, beside), ramp<f32>(steadiness(state), STEADY, STEADIEST));
}

function loadLine(lane: i32, bpm: f32): void {
  const k = max(FIRST_BIN, min(BINS - 1, <i32>(bpm / (60 * BIN_HZ) + <f32>0.5)));
  const at = OPTICAL_FFT.at(2 * k) + ((<usize>lane) << 2);
  const x = load<f32>(at);
  const y = load<f32>(at, 16);
  // From the first of the points to their middle
  const turn = (k * (POINTS - 1) * (FFT_MAX / 4)) / POINTS;
  const gain = amplitudeGain(k);
  const cos = gain * turnCos(turn);
  const sin = gain * turnSin(turn);
  re = x * cos - y * sin;
  im = y * cos + x * sin;
}

/** @param size that of the line */
function notePhase(state: PulseState, size: f32): void {
  const place = 2 * (state.phasesKnown % PHASES);
  state.phases[place] = re / size;
  state.phases[place + 1] = im / size;
  state.phasesKnown++;
}

/** Moves the running means of the second harmonic, turned by twice the line's phase, and of the line's power. */
function noteDouble(state: PulseState, size: f32, doubleRe: f32, doubleIm: f32): void {
  const x: f32 = (re * re - im * im) / size;
  const y: f32 = (<f32>2 * re * im) / size;
  const share = max<f32>(LOCK_SHARE, <f32>1 / <f32>state.phasesKnown);
  state.lockedRe += share * (doubleRe * x + doubleIm * y - state.lockedRe);
  state.lockedIm += share * (doubleIm * x - doubleRe * y - state.lockedIm);
  state.linePower += share * (size * size - state.linePower);
}

/** How alike the advances of the phase over a window's length were of late, from 0 to 1; 0 where too few are known. */
function steadiness(state: PulseState): f32 {
  if (state.phasesKnown < PHASES) return 0;
  let x: f32 = 0;
  let y: f32 = 0;
  for (let i = state.phasesKnown - ADVANCES; i < state.phasesKnown; i++) {
    const now = 2 * (i % PHASES);
    const before = 2 * ((i - WINDOW_SECONDS) % PHASES);
    const a = state.phases[now];
    const b = state.phases[now + 1];
    const c = state.phases[before];
    const d = state.phases[before + 1];
    x += a * c + b * d;
    y += b * c - a * d;
  }
  return hypot(x, y) / <f32>ADVANCES;
}

function hypot(x: f32, y: f32): f32 {
  return Mathf.sqrt(x * x + y * y);
}
