import { Row, rowAt } from './row';

/** Bins of the pulse's spectrum from 0 Hz on, and with those that fill the last vector. */
export const BINS: i32 = 97;
export const BINS_ROW: i32 = 100;
/** Heart rates that are followed, one per bpm, and with those that fill the last vector. */
export const STATES: i32 = 191;
export const STATES_ROW: i32 = 192;

/** What the heart rate from optical channels keeps from step to step. */
@unmanaged
export class PulseState {
  /** End of the window before, seconds. */
  lastEnd: f64;
  /** Whether `belief` holds something. */
  tracking: bool;
  /** Whether the mean spectra hold something. */
  warm: bool;
  /** Running mean of the tracked rate, bpm. */
  slowRate: f32;
  /** Heart rate before, bpm. */
  value: f32;
  /** How far the tracked line was apart from motion of late. */
  seenApart: f32;
  /** How much of the likelihood the tracked rate had of late, in motion; below 0 at rest. */
  support: f32;

  /** Running means of the spectra of pulse and noise, and of the strongest axis. */
  get pulseMean(): Row<f32> {
    return rowAt<f32>(changetype<usize>(this) + PULSE_MEAN);
  }

  get noiseMean(): Row<f32> {
    return rowAt<f32>(changetype<usize>(this) + NOISE_MEAN);
  }

  get loudestMean(): Row<f32> {
    return rowAt<f32>(changetype<usize>(this) + LOUDEST_MEAN);
  }

  /** Probability of each heart rate. */
  get belief(): Row<f32> {
    return rowAt<f32>(changetype<usize>(this) + BELIEF);
  }
}

const PULSE_MEAN: usize = (offsetof<PulseState>() + 15) & ~15;
const NOISE_MEAN: usize = PULSE_MEAN + BINS_ROW * sizeof<f32>();
const LOUDEST_MEAN: usize = NOISE_MEAN + BINS_ROW * sizeof<f32>();
const BELIEF: usize = LOUDEST_MEAN + BINS_ROW * sizeof<f32>();
export const PULSE_STATE_BYTES: usize = BELIEF + STATES_ROW * sizeof<f32>();
