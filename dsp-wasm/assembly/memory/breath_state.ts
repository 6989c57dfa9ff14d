import { PulseTrain, trainBytes } from './pulse_train';
import { Row, rowAt } from './row';

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
  get posterior(): Row<f32> {
    return rowAt<f32>(changetype<usize>(this) + POSTERIOR);
  }

  /** By series: sum over the trusted windows of the energy at the answered rate in the newest half, fading like their number. */
  get swings(): v128 {
    return v128.load(changetype<usize>(this) + SWINGS);
  }

  set swings(sums: v128) {
    v128.store(changetype<usize>(this) + SWINGS, sums);
  }

  /** The same of the whole energy. */
  get wholes(): v128 {
    return v128.load(changetype<usize>(this) + WHOLES);
  }

  set wholes(sums: v128) {
    v128.store(changetype<usize>(this) + WHOLES, sums);
  }

  /** Forgets how the breath swings. */
  forget(): void {
    this.windows = 0;
    this.doubted = 0;
    this.swings = f32x4.splat(0);
    this.wholes = f32x4.splat(0);
  }
}

const POSTERIOR: usize = offsetof<Track>();
const SWINGS: usize = POSTERIOR + RATES * sizeof<f32>();
const WHOLES: usize = SWINGS + sizeof<v128>();
const TRACK_BYTES: usize = (WHOLES + sizeof<v128>() + 7) & ~7;

/** State of the respiratory rates from step to step. */
@unmanaged
export class BreathState {
  /** How much of the window may show the wearer's movements instead of the breath, from 0 to 1. */
  moved: f32;

  get train(): PulseTrain {
    return changetype<PulseTrain>(changetype<usize>(this) + TRAIN);
  }

  /** Makes the state that of an empty session; all bytes are zero before. */
  begin(): void {
    this.train.kept = MAX_PULSES;
  }

  trackAt(source: i32): Track {
    return changetype<Track>(changetype<usize>(this) + TRACKS + <usize>source * TRACK_BYTES);
  }
}

const TRAIN: usize = (offsetof<BreathState>() + 7) & ~7;
const TRACKS: usize = TRAIN + trainBytes(MAX_PULSES);
export const BREATH_STATE_BYTES: usize = TRACKS + <usize>TRACK_COUNT * TRACK_BYTES;
