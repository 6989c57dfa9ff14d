import { Channel } from './channel';
import { Row, rowAt } from './row';

/** Pulses that are kept: the 32 s of a window at up to 180 bpm. */
export const MAX_PULSES: i32 = 96;
/** Respiratory rates that are followed. */
export const RATES: i32 = 45;
/** Trackers of a session, one for each estimator. */
const TRACK_COUNT: i32 = 3;

/** A pulse of an optical channel. */
@unmanaged
export class Pulse {
  /** When, in ticks (ppg_pulses.ts). */
  time: i32;
  /** Height above its foot. */
  height: f32;
  /** Mean of the optical channel over a second about it, without the sub-channel's offset. */
  baseline: f32;
}

/** What one estimator knows of the respiratory rate. */
@unmanaged
export class Track {
  /** End of the window before, seconds; 0: none. */
  end: f64;

  /** Probability of each rate. */
  get posterior(): Row<f32> {
    return rowAt<f32>(changetype<usize>(this) + POSTERIOR);
  }
}

const POSTERIOR: usize = offsetof<Track>();
const TRACK_BYTES: usize = (POSTERIOR + RATES * sizeof<f32>() + 7) & ~7;

/** What the respiratory rates keep from step to step. */
@unmanaged
export class BreathState {
  /** Optical channel of the pulses; null before the first. */
  channel: Channel | null;
  /** First grid sample that is not yet searched. */
  cursor: i32;
  /** Pulses so far, of which the newest MAX_PULSES are kept. */
  pulseCount: i32;
  /** The newest pulse's maximum. */
  level: f32;

  /** The pulse of that number, or the place of the next one. */
  pulseAt(number: i32): Pulse {
    const ring = rowAt<Pulse>(changetype<usize>(this) + PULSES);
    return ring[<u32>number % <u32>MAX_PULSES];
  }

  trackAt(source: i32): Track {
    return changetype<Track>(changetype<usize>(this) + TRACKS + <usize>source * TRACK_BYTES);
  }
}

const PULSES: usize = offsetof<BreathState>();
const TRACKS: usize = PULSES + MAX_PULSES * ((offsetof<Pulse>() + 7) & ~7);
export const BREATH_STATE_BYTES: usize = TRACKS + <usize>TRACK_COUNT * TRACK_BYTES;
