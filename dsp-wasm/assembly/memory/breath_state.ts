import { PulseTrain } from './pulse_train';
import { List, listOf, Row, rowOf } from './row';

/** Number of pulses kept: the 32 s of a window at up to 180 bpm. */
const MAX_PULSES: i32 = 96;
/** Number of respiratory rates that are tracked: 3.75 to 90 a minute. */
export const RATES: i32 = 93;
/** Number of trackers of a session, one for each estimator. */
const TRACK_COUNT: i32 = 3;

/** State of the respiratory rate of one estimator. */
@unmanaged
export class Track {
  /** End of the previous window, seconds; 0: none. */
  end: f64;
  /** Number of trusted windows, of which the old ones fade, so that it is at most 32; 0: none. */
  windows: f32;
  /** Number of doubted windows since the last that is among those. */
  doubted: i32;
  /** Probability of each rate. */
  posterior: Row<f32> = rowOf<f32>(RATES);
  /** By series: sum over the trusted windows of the energy at the answered rate in the newest half, fading like their number. */
  swings: v128;
  /** The same of the whole energy. */
  wholes: v128;

  /** Forgets how the breath swings. */
  forget(): void {
    this.windows = 0;
    this.doubted = 0;
    this.swings = f32x4.splat(0);
    this.wholes = f32x4.splat(0);
  }
}

/** State of the respiratory rates from step to step. */
@unmanaged
export class BreathState {
  /** How much of the window may show the wearer's movements instead of the breath, from 0 to 1. */
  moved: f32;
  train: PulseTrain = new PulseTrain(MAX_PULSES);
  /** By source of the series (breath/source.ts). */
  tracks: List<Track> = listOf<Track>(TRACK_COUNT);
}
