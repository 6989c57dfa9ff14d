import { SLOW_HZ } from '../memory/channel';
import { BINS, BINS_ROW, STATES } from '../memory/pulse_state';
import { Row, rowAt, rowOf } from '../memory/row';

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
/** Highest tracked rate, bpm. */
export const HIGHEST: i32 = LOWEST + STATES - 1;
/** Optical channels, each with its rising and its falling slopes. */
export const TRAINS: i32 = 8;
export const MAX_PEAKS: i32 = 64;
/** Maximum number of rises in a window. */
export const MAX_RISES: i32 = WINDOW / 2;
/** Grid samples before and after the rises of a window. */
export const RISES_MARGIN: i32 = 8;
/** Bins up to beyond the triple of the last rate that is compared in motion. */
export const LEVELS: i32 = 192;

/** Four signals without their mean and slope. */
@unmanaged
export class Signals {
  /** Mean, by lane. */
  mean: v128;
  /** Sum of the squares of what is left without mean and slope, by lane. */
  energy: v128;
  samples: Row<v128> = rowAt<v128>(rowOf<v128>(WINDOW + 2 * MARGIN).at(MARGIN));
}

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
  held: Row<i32> = rowOf<i32>(4);
  /** By optical channel: its constant part; 0 if it was removed before the data came, and for an empty lane. */
  levels: Row<f32> = rowOf<f32>(4);
  /** By optical channel: power of its second differences over 1/2 s, as a share of its power. */
  swings: Row<f32> = rowOf<f32>(4);
  /** By optical channel: power of its steps from one grid sample to the next, as a share of its power. */
  jumps: Row<f32> = rowOf<f32>(4);
  /** By optical channel: share of its grid samples that equal the previous one. */
  still: Row<f32> = rowOf<f32>(4);
  /** By optical channel: share of the window in which it rests at its extremes. */
  clipped: Row<f32> = rowOf<f32>(4);
  optical: Signals = new Signals();
  axes: Signals = new Signals();
}

/** Spectra of the window, BINS at multiples of BIN_HZ. */
@unmanaged
export class Spectra {
  /** By optical channel: reciprocal of its strongest bin, 0 where it is not used. */
  scale: Row<f32> = rowOf<f32>(4);
  /** Power of the pulse over all optical channels, its strongest bin about one. */
  pulse: Row<f32> = rowOf<f32>(BINS_ROW);
  /** Real and imaginary part of each bin of the optical channels. */
  optical: Row<v128> = rowOf<v128>(2 * BINS);
  /** The same of the axes, in motion. */
  axes: Row<v128> = rowOf<v128>(2 * BINS);
  /** Power of the optical channels that the axes do not explain, in motion. */
  residual: Row<v128> = rowOf<v128>(BINS_ROW);
  /** In motion, mean of the logarithms of the powers: of the optical channels, of the axes, and of the residual. */
  opticalLevel: Row<f32> = rowOf<f32>(LEVELS);
  axesLevel: Row<f32> = rowOf<f32>(LEVELS);
  residualLevel: Row<f32> = rowOf<f32>(LEVELS);
}

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
  /** The optical channel with the steadiest beats. */
  lane: i32;
  /** Number of peaks of each train. */
  counts: Row<i32> = rowOf<i32>(TRAINS);
  private peaks: Row<Peak> = rowOf<Peak>(TRAINS * MAX_PEAKS);

  /** Peak `i` of a train. */
  peak(train: i32, i: i32): Peak {
    return this.peaks[train * MAX_PEAKS + i];
  }
}

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
  slopes: Row<f32> = rowAt<f32>(rowOf<f32>(WINDOW + 2 * RISES_MARGIN).at(RISES_MARGIN));
  /** Steepest points of all rises. */
  all: Row<Peak> = rowOf<Peak>(MAX_RISES);
  /** The elements of `all` that are beats. */
  chosen: Row<i32> = rowOf<i32>(MAX_RISES);

  beat(i: i32): Peak {
    return this.all[this.chosen[i]];
  }

  /** Grid samples from the beat before. */
  interval(i: i32): f32 {
    return this.beat(i).time - this.beat(i - 1).time;
  }
}
