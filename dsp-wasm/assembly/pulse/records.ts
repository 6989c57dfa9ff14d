import { SLOW_HZ } from '../memory/channel';
import { BINS, BINS_ROW } from '../memory/pulse_state';
import { Row, rowAt } from '../memory/row';

/**
 * The records that pass from step to step of one estimate, in the order of the steps: PulseWindow, Spectra, Tracked, Beats, Count. A row of
 * v128 holds four signals, one per lane: the optical channels, or the axes of the accelerometer.
 */

/** Window of the heart rate: seconds, and grid samples. */
export const WINDOW_SECONDS: i32 = 8;
export const WINDOW: i32 = WINDOW_SECONDS * SLOW_HZ;
/** Grid samples before and after the signals that repeat their outermost values, for filters. */
export const MARGIN: i32 = 32;
/** Points of the window after decimation to every second grid sample. */
export const POINTS: i32 = WINDOW / 2;
/** Hz per bin: the points are padded to twice their number. */
export const BIN_HZ: f32 = 0.0625; // SLOW_HZ / 2 / (2 * POINTS)
/** First used bin of BINS: 0.44 to 6 Hz. */
export const FIRST_BIN: i32 = 7;
/** Grid samples per minute; divided by a rate in bpm, the period in grid samples. */
export const GRID_PER_MINUTE: f32 = 1920; // 60 * SLOW_HZ
/** Lowest tracked rate, bpm. */
export const LOWEST: i32 = 30;
/** Optical channels, each with its rising and its falling slopes. */
export const TRAINS: i32 = 8;
export const MAX_PEAKS: i32 = 64;
/** Maximum number of rises in a window. */
export const MAX_RISES: i32 = WINDOW / 2;
/** Grid samples before and after the rises of a window. */
export const RISES_MARGIN: i32 = 8;
/** Bins up to beyond the triple of the last rate that is compared in motion. */
export const LEVELS: i32 = 192;

const VECTORS_BYTES: usize = (WINDOW + 2 * MARGIN) * sizeof<v128>();

/** Four signals without their mean and slope. */
@unmanaged
export class Signals {
  /** Mean, by lane. */
  mean: v128;
  /** Sum of the squares of what is left without mean and slope, by lane. */
  energy: v128;

  get samples(): Row<v128> {
    return rowAt<v128>(changetype<usize>(this) + offsetof<Signals>() + MARGIN * sizeof<v128>());
  }
}
const SIGNALS_BYTES: usize = offsetof<Signals>() + VECTORS_BYTES;

/** The last 8 s of the optical channels and of the accelerometer. */
@unmanaged
export class PulseWindow {
  /** Share of the acceleration that is motion, from 0 to 1; 0 without an accelerometer. */
  motion: f32;
  /** Whether the accelerometer has enough data and is not stuck. */
  hasAxes: bool;
  /** Whether three axes move, each in its own way. */
  allAxes: bool;

  /** By optical channel: grid samples with a value. */
  get held(): Row<i32> {
    return rowAt<i32>(changetype<usize>(this) + HELD);
  }

  /** By optical channel: its constant part; 0 if it was removed before the data came, and for an empty lane. */
  get levels(): Row<f32> {
    return rowAt<f32>(changetype<usize>(this) + HELD + 16);
  }

  /** By optical channel: power of its second differences over 1/2 s, as a share of its power. */
  get swings(): Row<f32> {
    return rowAt<f32>(changetype<usize>(this) + HELD + 32);
  }

  /** By optical channel: power of its steps from one grid sample to the next, as a share of its power. */
  get jumps(): Row<f32> {
    return rowAt<f32>(changetype<usize>(this) + HELD + 48);
  }

  /** By optical channel: share of its grid samples that equal the previous one. */
  get still(): Row<f32> {
    return rowAt<f32>(changetype<usize>(this) + HELD + 64);
  }

  /** By optical channel: share of the window in which it rests at its extremes. */
  get clipped(): Row<f32> {
    return rowAt<f32>(changetype<usize>(this) + HELD + 80);
  }

  get optical(): Signals {
    return changetype<Signals>(changetype<usize>(this) + OPTICAL);
  }

  get axes(): Signals {
    return changetype<Signals>(changetype<usize>(this) + AXES);
  }
}
const HELD: usize = (offsetof<PulseWindow>() + 15) & ~15;
const OPTICAL: usize = HELD + 96;
const AXES: usize = OPTICAL + SIGNALS_BYTES;
export const PULSE_WINDOW_BYTES: i32 = <i32>(AXES + SIGNALS_BYTES);

/** Spectra of the window, BINS at multiples of BIN_HZ. */
@unmanaged
export class Spectra {
  /** By optical channel: reciprocal of its strongest bin, 0 where it is not used. */
  get scale(): Row<f32> {
    return rowAt<f32>(changetype<usize>(this));
  }

  /** Power of the pulse over all optical channels, its strongest bin about one. */
  get pulse(): Row<f32> {
    return rowAt<f32>(changetype<usize>(this) + PULSE);
  }

  /** Real and imaginary part of each bin of the optical channels. */
  get optical(): Row<v128> {
    return rowAt<v128>(changetype<usize>(this) + OPTICAL_FFT);
  }

  /** The same of the axes, in motion. */
  get axes(): Row<v128> {
    return rowAt<v128>(changetype<usize>(this) + AXES_FFT);
  }

  /** Power of the optical channels that the axes do not explain, in motion. */
  get residual(): Row<v128> {
    return rowAt<v128>(changetype<usize>(this) + RESIDUAL);
  }

  /** In motion, mean of the logarithms of the powers: of the optical channels, of the axes, and of the residual. */
  get opticalLevel(): Row<f32> {
    return rowAt<f32>(changetype<usize>(this) + OPTICAL_LEVEL);
  }

  get axesLevel(): Row<f32> {
    return rowAt<f32>(changetype<usize>(this) + OPTICAL_LEVEL + LEVELS * sizeof<f32>());
  }

  get residualLevel(): Row<f32> {
    return rowAt<f32>(changetype<usize>(this) + OPTICAL_LEVEL + 2 * LEVELS * sizeof<f32>());
  }
}
const PULSE: usize = 16;
const OPTICAL_FFT: usize = PULSE + BINS_ROW * sizeof<f32>();
const AXES_FFT: usize = OPTICAL_FFT + 2 * BINS * sizeof<v128>();
const RESIDUAL: usize = AXES_FFT + 2 * BINS * sizeof<v128>();
const OPTICAL_LEVEL: usize = RESIDUAL + BINS_ROW * sizeof<v128>();
export const SPECTRA_BYTES: i32 = <i32>(OPTICAL_LEVEL + 3 * LEVELS * sizeof<f32>());

/** The rate with the most belief. */
@unmanaged
export class Tracked {
  /** Heart rate, bpm. */
  rate: f32;
  /** Probability of it and its neighbours. */
  belief: f32;
}

/** A spectral line of one optical channel: its phase is that at the window's middle. */
@unmanaged
export class Line {
  re: f32;
  im: f32;

  get size(): f32 {
    return max<f32>(Mathf.sqrt(this.re * this.re + this.im * this.im), 1e-20);
  }
}

/** Extreme of a slope. */
@unmanaged
export class Peak {
  /** Grid samples from the window's start. */
  time: f32;
  height: f32;
}

/** The beats of all trains. */
@unmanaged
export class Beats {
  /** Heart rate, bpm; 0 if no train has two intervals. */
  rate: f32;
  /** Train with the smallest spread; -1 for none. */
  best: i32;
  /** Smallest spread of a train: variation of its intervals plus that of its slopes. */
  spread: f32;
  /** Number of beats of the best train, as a share of the number that fit into the window at the tracked rate. */
  cover: f32;

  /** The optical channel with the steadiest beats. */
  get lane(): i32 {
    return max(0, this.best) & 3;
  }

  /** Number of peaks of each train. */
  get counts(): Row<i32> {
    return rowAt<i32>(changetype<usize>(this) + COUNTS);
  }

  /** Peak `i` of a train. */
  peak(train: i32, i: i32): Peak {
    return rowAt<Peak>(changetype<usize>(this) + COUNTS + TRAINS * sizeof<i32>())[train * MAX_PEAKS + i];
  }
}
const COUNTS: usize = (offsetof<Beats>() + 15) & ~15;
export const BEATS_BYTES: i32 = <i32>(COUNTS + TRAINS * sizeof<i32>() + TRAINS * MAX_PEAKS * offsetof<Peak>());

/** The upstrokes that are counted one by one, of one optical channel. */
@unmanaged
export class Count {
  /** Two rises that are closer are one, grid samples. */
  closest: f32;
  /** Whether there are three beats; otherwise nothing else is set. */
  found: bool;
  /** Heart rate, bpm. */
  rate: f32;
  /** Beats that are detected only by the pause after them. */
  lost: i32;
  /** Standard deviation of the intervals divided by their mean. */
  variation: f32;
  /** The same for the intervals between clear upstrokes, without the long ones. */
  steadiness: f32;
  /** Similarity of the upstrokes, at most 1. */
  likeness: f32;
  /** Skewness of the slopes, upstrokes above zero. */
  skew: f32;
  /** Slope of the steepest rise that does not count, divided by that of the smallest one that does. */
  margin: f32;
  /** Shortest and longest interval, grid samples. */
  shortest: f32;
  longest: f32;
  /** The longest interval, and the longer end of the window without a beat, in median intervals. */
  gap: f32;
  edge: f32;
  /** Standard deviation of the error of a beat's time, grid samples. */
  jitter: f32;
  /** Number of rises, and of those that are beats. */
  rises: i32;
  beats: i32;
  /** Variation of the intervals from each beat to the next but one. */
  pairVariation: f32;
  /** The least slope of the upstrokes, divided by the greatest. */
  evenness: f32;
  /** Variation of the intervals that is no pattern of two or three. */
  disorder: f32;
  /** Share of the intervals that hold a weak upstroke at the same delay, too late to be a dicrotic wave. */
  followed: f32;
  /** Similarity of the upstrokes midway between two beats with those of the beats, at most 1. */
  midway: f32;
  /** Heart rate if weak upstrokes that come in a row are beats, too, bpm; 0 where there are none. */
  withRuns: f32;

  /** Slopes of the optical channel, upstrokes above zero. */
  get slopes(): Row<f32> {
    return rowAt<f32>(changetype<usize>(this) + SLOPES);
  }

  /** Steepest points of all rises. */
  get all(): Row<Peak> {
    return rowAt<Peak>(changetype<usize>(this) + RISES);
  }

  /** The elements of `all` that are beats. */
  get chosen(): Row<i32> {
    return rowAt<i32>(changetype<usize>(this) + CHOSEN);
  }

  beat(i: i32): Peak {
    return this.all[this.chosen[i]];
  }

  /** Grid samples from the beat before. */
  interval(i: i32): f32 {
    return this.beat(i).time - this.beat(i - 1).time;
  }
}
const SLOPES: usize = ((offsetof<Count>() + 15) & ~15) + RISES_MARGIN * sizeof<f32>();
const RISES: usize = SLOPES + (WINDOW + RISES_MARGIN) * sizeof<f32>();
const CHOSEN: usize = RISES + MAX_RISES * offsetof<Peak>();
export const COUNT_BYTES: i32 = <i32>(CHOSEN + MAX_RISES * sizeof<i32>());
