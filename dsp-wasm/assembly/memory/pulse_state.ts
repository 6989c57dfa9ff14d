import { Row, rowOf } from './row';

/** Bins of the pulse's spectrum from 0 Hz on; and their number rounded up to whole vectors. */
export const BINS: i32 = 97;
export const BINS_ROW: i32 = 100;
/** Number of tracked heart rates, one per bpm; and the number rounded up to whole vectors. */
export const STATES: i32 = 191;
export const STATES_ROW: i32 = 192;

/** Axes of the accelerometer. */
export const AXIS_COUNT: i32 = 3;
/** Products of the axes' spectra with each other, then, from DELAYED on, three of each axis with the optical channels. */
export const DELAYED: i32 = 8;
const PRODUCTS: i32 = 17;

/** Windows whose line's phase is kept: 12 advances over a window's length of 8 s. */
export const PHASES: i32 = 20;

/** State of the heart rate from optical channels from step to step. */
@unmanaged
export class PulseState {
  /** End of the previous window, seconds. */
  lastEnd: f64;
  /** Whether `belief` is set. */
  tracking: bool;
  /** Whether the mean spectra are set. */
  warm: bool;
  /** Whether `products` are set. */
  filtering: bool;
  /** Running mean of the tracked rate, bpm. */
  slowRate: f32;
  /** Previous heart rate, bpm. */
  value: f32;
  /** Windows at rest since it changed by more than a beat in a window does, or since the start. */
  settled: i32;
  /** Heart rate to expect: the last one that was trusted, and its response to the motion since, bpm; 0: none was. */
  expected: f32;
  /** The last trusted rate, bpm; 0: none was, or it is forgotten. And the seconds since. */
  sureRate: f32;
  unsure: f32;
  /** Windows in a row, up to now, with weak pulses that may be a run of beats; and seconds since these were enough to expect another. */
  runWindows: i32;
  sinceRun: f32;
  /** Recent value of apartFromMotion for the tracked line. */
  seenApart: f32;
  /** Recent share of the likelihood at the tracked rate, in motion; below 0 at rest. */
  support: f32;
  /** The same at rest, of late. */
  restSupport: f32;
  /** Recent share of the tracked line that the axes do not explain, in motion; below 0 at rest. */
  unexplained: f32;
  /** Seconds for which the rate may still rise faster, if motion has begun after rest. */
  onset: f32;
  /** Seconds whose heart rate was computed, as bits: bit i is the second `notedEnd` - i; those in which it was trusted, and in which it was likely. */
  noted: u64;
  trusted: u64;
  likely: u64;
  notedEnd: i32;
  /** How well its rest is known, from 0 to 1: with an accelerometer, or after minutes of a trusted pulse. */
  known: f32;
  /** Number of windows since the start, or a gap, whose line's phase was noted. */
  phasesKnown: i32;
  /** Running sum of the power of the line at the rate (pulse/octave.ts). */
  linePower: f32;
  /** Running sum of the second harmonic in step with the line. */
  lockedRe: f32;
  lockedIm: f32;
  /** Running sums of the line in step with that at half the rate, and of the product of their sizes. */
  halfRe: f32;
  halfIm: f32;
  halfSizes: f32;
  /** By optical channel: usual height of its line at rest, natural logarithm; 0 before there is one. */
  heights: Row<f32> = rowOf<f32>(4);
  /** By optical channel: level of its light at the newest trusted heart rate; 0 before there is one. */
  contact: Row<f32> = rowOf<f32>(4);
  /** Phases of the line in the last windows, as unit vectors. */
  phases: Row<f32> = rowOf<f32>(2 * PHASES);
  /** Running means of the spectra of pulse and noise, and of the strongest axis. */
  pulseMean: Row<f32> = rowOf<f32>(BINS_ROW);
  noiseMean: Row<f32> = rowOf<f32>(BINS_ROW);
  loudestMean: Row<f32> = rowOf<f32>(BINS_ROW);
  /** Running means of the products of the spectra (pulse/residual.ts). */
  products: Row<v128> = rowOf<v128>(PRODUCTS);
  /** Probability of each heart rate. */
  belief: Row<f32> = rowOf<f32>(STATES_ROW);
}
