import { KIND_ACCEL, OUT_CONFIDENCE, OUT_VALUE } from './layout';
import { beatRate } from './pulse_beats';
import { pulseSpectrum, resetSpectrum } from './pulse_spectrum';
import { lineNear, resumeTrack, trackedBelief, trackedRate, updateTrack } from './pulse_tracker';
import { loadAxes, loadLights } from './pulse_window';
import { channelOfKind } from './session';

/** Motion above which beats in the time domain are not believed, and the spectral line is. */
const MOVING: f32 = 0.5;
/** Furthest that the beats' rate may lie from the tracked one, bpm. */
const BEATS_REACH: f32 = 12;
/** Furthest that a spectral line may lie from the tracked rate, bpm: half the main lobe. */
const LINE_REACH: f32 = 7;

/** Heart rate from the lights of the window that ends at `end`: writes OUT_VALUE (bpm) and OUT_CONFIDENCE; 0 for none. */
export function estimateHrPpg(slot: usize, end: f64): i32 {
  if (!loadLights(slot, end)) return 0;
  const moving = loadAxes(channelOfKind(slot, KIND_ACCEL), end);
  if (resumeTrack(slot, end)) resetSpectrum(slot);
  const motion = pulseSpectrum(slot, moving);
  if (motion < 0) return 0;
  updateTrack(slot, motion);
  const tracked = trackedRate(slot);
  const belief = trackedBelief;
  store<f64>(slot + OUT_VALUE, <f64>(motion > MOVING ? byLine(tracked) : byBeats(tracked)));
  store<f64>(slot + OUT_CONFIDENCE, <f64>belief);
  return 1;
}

/** In motion: between the track, which lags but holds, and the line, which follows but strays. */
function byLine(tracked: f32): f32 {
  return 0.5 * (tracked + lineNear(tracked, LINE_REACH));
}

function byBeats(tracked: f32): f32 {
  const beats = beatRate(tracked);
  return Mathf.abs(beats - tracked) < BEATS_REACH ? beats : lineNear(tracked, LINE_REACH);
}
