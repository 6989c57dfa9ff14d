import { EcgState } from '../memory/ecg_state';

/** Appends a beat, at most 0.5 s after it occurred, except for late ones. */
export function addBeat(
  ecg: EcgState,
  time: f64,
  interval: f32,
  amplitude: f32,
  baseline: f32,
  quality: f32,
  obscured: bool,
  holds: bool,
  late: bool,
  kind: i32,
): void {
  const beat = ecg.beatAt(ecg.beatCount++);
  beat.time = time;
  beat.interval = interval;
  beat.amplitude = amplitude;
  beat.baseline = baseline;
  beat.quality = quality;
  beat.obscured = obscured;
  beat.holds = holds;
  beat.late = late;
  beat.kind = kind;
}

/** Moves the times of unread beats to `to` (f64 seconds, ascending); returns their number. */
export function takeBeats(ecg: EcgState, to: usize): i32 {
  let taken: usize = 0;
  for (let number = max(ecg.read, ecg.oldestBeat); number < ecg.beatCount; number++) {
    const beat = ecg.beatAt(number);
    if (beat.late) continue;
    store<f64>(to + (taken << 3), beat.time);
    taken++;
  }
  ecg.read = ecg.beatCount;
  return <i32>taken;
}
