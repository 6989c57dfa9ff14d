import { PHASES, PulseState } from '../memory/pulse_state';
import { Row } from '../memory/row';
import { hypot, secondInStep } from './octave';
import { Line, WINDOW_SECONDS } from './records';
import { shareNear } from './spectrum';
import { ARTEFACT, FLICKER } from './tuning';

/**
 * The flicker of a lamp or a screen, seen through the sampling, may be a line among the pulse's, and as high as the pulse, which is there
 * beside it. It is a sine of one frequency. The rate of a heart wanders; what keeps it even, as a pacemaker or a simulator does, still
 * leaves the pulse its shape: a second harmonic in step with the pulse, which shows in the mean over many windows, however faint it is.
 */

/**
 * Whether the light's line at a rate is a lamp's. Must come once a window, after noteHarmonics. At rest a steady sine alone, with nothing beside
 * it, may be a device's test.
 * @param line the line of the steadiest optical channel at that rate
 * @param anew whether the windows before are of another run
 */
export function isLamp(state: PulseState, pulse: Row<f32>, line: Line, bpm: f32, moving: bool, anew: bool): bool {
  if (anew) state.phasesKnown = 0;
  const place = 2 * (state.phasesKnown % PHASES);
  state.phases[place] = line.re / line.size;
  state.phases[place + 1] = line.im / line.size;
  state.phasesKnown++;
  // Most pulses end here, and save the rest
  if (bpm > ARTEFACT.SECOND_SEEN || secondInStep(state) > FLICKER.IN_STEP) return false;
  if (!moving && shareNear(pulse, bpm, FLICKER.LOBE) > <f32>1 - FLICKER.LITTLE_ELSE) return false;
  return steadiness(state) > FLICKER.STEADY;
}

/** How alike the advances of the phase over a window's length were of late, from 0 to 1; 0 where too few are known. */
function steadiness(state: PulseState): f32 {
  if (state.phasesKnown < PHASES) return 0;
  let x: f32 = 0;
  let y: f32 = 0;
  for (let i = state.phasesKnown - FLICKER.ADVANCES; i < state.phasesKnown; i++) {
    const now = 2 * (i % PHASES);
    const before = 2 * ((i - WINDOW_SECONDS) % PHASES);
    const a = state.phases[now];
    const b = state.phases[now + 1];
    const c = state.phases[before];
    const d = state.phases[before + 1];
    x += a * c + b * d;
    y += b * c - a * d;
  }
  return hypot(x, y) / <f32>FLICKER.ADVANCES;
}
