import { takeBeats } from './beats';
import { KIND_ECG } from './layout';
import { channelOfKind } from './session';

/** Streams the channel's grid cells up to `end` (seconds) through the detector. */
export function advancePeaks(slot: usize, channel: usize, end: f64): void {}

/** Moves the peaks that are not yet read to `to` (f64 seconds, ascending); returns how many. */
export function takePeaks(slot: usize, channel: usize, to: usize): i32 {
  return channel == channelOfKind(slot, KIND_ECG) ? takeBeats(slot, to) : 0;
}
