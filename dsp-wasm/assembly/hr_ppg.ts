import { HR_PPG_STATE, KIND_ACCEL, OUT_CONFIDENCE, OUT_VALUE } from './layout';
import { beatRate } from './pulse_beats';
import { pulseConfidence } from './pulse_quality';
import { apartFromMotion, pulseSpectrum, resetSpectrum } from './pulse_spectrum';
import { lineNear, resumeTrack, trackedRate, updateTrack } from './pulse_tracker';
import { loadAxes, loadLights } from './pulse_window';
import { channelOfKind } from './session';

/** Motion above which the beats in the time domain are not believed alone. */
const MOVING: f32 = 0.5;
/** Furthest that the beats' rate may lie from the tracked one, bpm: at rest, and in motion. */
const REST_REACH: f32 = 12;
const MOTION_REACH: f32 = 7;
/** Furthest that a spectral line may lie from the tracked rate, bpm: half the main lobe. */
const LINE_REACH: f32 = 7;
/**
 * Share of the value before in that at rest: with it the window tapers off over some 10 s, as monitors' do, and a beat
 * that comes in or falls out moves the value less.
 */
const MEMORY: f32 = 0.5;

const SLOW_RATE: usize = HR_PPG_STATE + 24; // f32, running mean of the tracked rate, 5 s
const VALUE: usize = HR_PPG_STATE + 28; // f32, the value before
const SEEN: usize = HR_PPG_STATE + 32; // f32, how far apart from motion the tracked line was of late
/** Share of what is seen now in SEEN: what is clearer counts at once, and is remembered for 20 s. */
const CLEARER: f32 = 0.5;
const LESS_CLEAR: f32 = 0.05;

/** Heart rate from the lights of the window that ends at `end`: writes OUT_VALUE (bpm) and OUT_CONFIDENCE; 0 for none. */
export function estimateHrPpg(slot: usize, end: f64): i32 {
  if (!loadLights(slot, end)) return 0;
  const hasAxes = loadAxes(channelOfKind(slot, KIND_ACCEL), end);
  const anew = resumeTrack(slot, end);
  if (anew) resetSpectrum(slot);
  const motion = pulseSpectrum(slot, hasAxes);
  if (motion < 0) return 0;
  updateTrack(slot, motion);
  const tracked = trackedRate(slot);
  const beats = beatRate(tracked);
  const value = motion > MOVING ? inMotion(tracked, beats) : smoothed(slot, atRest(tracked, beats), anew);
  store<f32>(slot + VALUE, value);
  store<f64>(slot + OUT_VALUE, <f64>value);
  const apart = apartFromMotion(slot, tracked, motion);
  const confidence = pulseConfidence(tracked, motion, apart, seenApart(slot, apart, anew), unrest(slot, tracked, anew));
  store<f64>(slot + OUT_CONFIDENCE, <f64>confidence);
  return 1;
}

/** At rest the beats tell the window's rate best. */
function atRest(tracked: f32, beats: f32): f32 {
  return abs<f32>(beats - tracked) > REST_REACH ? lineNear(tracked, LINE_REACH) : beats;
}

/** Blends the value before in, if it is of the same run: one farther off was wrong, or this is. */
function smoothed(slot: usize, value: f32, anew: bool): f32 {
  const change = load<f32>(slot + VALUE) - value;
  return anew || abs<f32>(change) > REST_REACH ? value : value + MEMORY * change;
}

/** In motion beats and lines stray and the track lags: the mean of those that are there does less of either. */
function inMotion(tracked: f32, beats: f32): f32 {
  let sum = tracked + lineNear(tracked, LINE_REACH);
  let count: f32 = 2;
  // The second harmonic's line is twice as sharp
  const double = lineNear(tracked + tracked, LINE_REACH + LINE_REACH);
  if (double != tracked + tracked) {
    sum += <f32>0.5 * double;
    count++;
  }
  if (abs<f32>(beats - tracked) <= MOTION_REACH) {
    sum += beats;
    count++;
  }
  return sum / count;
}

/** A pulse that crosses the motion's line is believed for as long as it was seen beside it not long ago. */
function seenApart(slot: usize, apart: f32, anew: bool): f32 {
  const before = anew ? apart : load<f32>(slot + SEEN);
  const seen = before + (apart > before ? CLEARER : LESS_CLEAR) * (apart - before);
  store<f32>(slot + SEEN, seen);
  return seen;
}

/** How far the tracked rate is from its running mean, in tens of bpm. */
function unrest(slot: usize, tracked: f32, anew: bool): f32 {
  const before = anew ? tracked : load<f32>(slot + SLOW_RATE);
  const mean = before + <f32>0.2 * (tracked - before);
  store<f32>(slot + SLOW_RATE, mean);
  return min<f32>(2, abs<f32>(tracked - mean) * <f32>0.1);
}
