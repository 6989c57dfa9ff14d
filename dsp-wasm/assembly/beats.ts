import { BEAT_RING, ECG_BEATS, ECG_READ } from './ecg_state';

/**
 * The newest beats of the session's ECG, oldest first by number: `beatCount` are the beats so far, of which the newest
 * MAX_BEATS are kept (32 s at 195 bpm). A beat is put here at most 0.5 s after it came, save for late ones.
 */
export const MAX_BEATS: i32 = 104;
export const BEAT_BYTES: usize = 24;
export const BEAT_TIME: usize = 0; // f64, of the R peak, seconds
export const BEAT_INTERVAL: usize = 8; // f32, seconds since the beat before; 0: unknown (the first beat, or a gap between)
export const BEAT_AMPLITUDE: usize = 12; // f32, of the QRS complex on one lead, in its units: comparable between beats
export const BEAT_QUALITY: usize = 16; // f32, probability that it is a beat and that none was missed before it
export const BEAT_LATE: usize = 20; // i32, 1: found more than 0.5 s after it came, by a change of mind; not told to the host

/** Beats found so far. */
export function beatCount(slot: usize): i32 {
  return load<i32>(slot + ECG_BEATS);
}

/** Number of the oldest beat that is kept. */
export function oldestBeat(slot: usize): i32 {
  return max(0, beatCount(slot) - MAX_BEATS);
}

/** Pointer to the beat of that number, oldestBeat <= number < beatCount. */
export function beatOf(slot: usize, number: i32): usize {
  return slot + BEAT_RING + <usize>(<u32>number % <u32>MAX_BEATS) * BEAT_BYTES;
}

export function addBeat(slot: usize, time: f64, interval: f32, amplitude: f32, quality: f32, late: bool): void {
  const count = beatCount(slot);
  const beat = beatOf(slot, count);
  store<f64>(beat, time, BEAT_TIME);
  store<f32>(beat, interval, BEAT_INTERVAL);
  store<f32>(beat, amplitude, BEAT_AMPLITUDE);
  store<f32>(beat, quality, BEAT_QUALITY);
  store<i32>(beat, <i32>late, BEAT_LATE);
  store<i32>(slot + ECG_BEATS, count + 1);
}

/** Moves the times of beats that are not yet read to `to` (f64 seconds, ascending); returns how many. */
export function takeBeats(slot: usize, to: usize): i32 {
  const count = beatCount(slot);
  let taken = 0;
  for (let number = max(load<i32>(slot + ECG_READ), oldestBeat(slot)); number < count; number++) {
    const beat = beatOf(slot, number);
    if (load<i32>(beat, BEAT_LATE)) continue;
    store<f64>(to + (<usize>(taken++) << 3), load<f64>(beat, BEAT_TIME));
  }
  store<i32>(slot + ECG_READ, count);
  return taken;
}
