import { Row, rowOf } from './row';

/** Rate of the grid of ppg*, accel and resp, Hz: 5 harmonics of 180 bpm are below its Nyquist frequency. */
export const SLOW_HZ: i32 = 32;
/** Rate of the grid of ecg, Hz: QRS energy lies below 40 Hz (Thakor 1984). */
export const ECG_HZ: i32 = 128;
/** Ring lengths in grid samples: 48 s (the window of rr, and 8 s ahead), 16 s (that of hr, and 8 s ahead), 16 s of ecg. */
export const LONG_RING: i32 = 1536;
export const SHORT_RING: i32 = 512;
export const ECG_RING: i32 = 2048;

/** Number of sub-channels kept; one for each lane of a vector. */
export const MAX_SUBS: i32 = 4;
/** Seconds for which a channel remembers the number of complete grid samples. */
export const SECONDS: i32 = 16;

// Modalities, with the numbers that the host uses.
export const KIND_PPG: i32 = 0;
export const KIND_PPG_GREEN: i32 = 1;
export const KIND_PPG_RED: i32 = 2;
export const KIND_PPG_IR: i32 = 3;
export const KIND_ECG: i32 = 4;
export const KIND_ACCEL: i32 = 5;
export const KIND_RESP: i32 = 6;
export const KINDS: i32 = 7;

/** The newest grid samples of a sub-channel. */
@unmanaged
export class Ring {
  samples: Row<f32>;
  length: i32;
  /** Place of the next grid sample. */
  next: i32;
}

/**
 * What the newest 8 s or so of a channel's raw values are like, one sub-channel a lane: counts of the observed instants, which fade.
 * Written by grid/span.ts.
 */
@unmanaged
export class Span {
  /** Observed instants. */
  count: v128;
  /** Instants at an end of the declared range. */
  ends: v128;
  /** Instants that repeat the highest or lowest value seen. */
  rests: v128;
  /** Instants far outside the declared range. */
  outside: v128;
  /** Instants that no converter gives, and steps over more than half of the range. */
  broken: v128;
  /** Steps of about the power of two that holds all values, as where upper bits are missing, less a part of other great ones. */
  wraps: v128;
  /** Instants that are not whole numbers: values in a unit, not counts. */
  fractions: v128;
  /** Highest and lowest values, without the sub-channel's offset; they fade towards their middle. */
  high: v128;
  low: v128;
}

/** A channel of a session, from its payload to the rings of its sub-channels. */
@unmanaged
export class Channel {
  /** Modality. */
  kind: i32;
  /** Grid samples per second. */
  rate: i32;
  /** Sub-channels with a ring. */
  subs: i32;
  /** Sub-channels in the payload. */
  payloadSubs: i32;
  /** Declared bits of a sample; 0: unknown. */
  bits: i32;
  /** Number of complete grid samples: all below this index are written. */
  complete: i32;
  /** First whole second that no sample has reached yet. */
  nextSecond: i32;
  /** Smallest step between two values: 1 for integers, 0 for floats. */
  resolution: f32;
  /** Spacing of the newest samples, s. */
  period: f64;
  /** Whether a sample has arrived. */
  started: bool;
  /** Time of the newest sample, in grid samples. */
  lastTime: f64;
  /** -1 if the current grid sample is not completely covered, otherwise 0. */
  gap: i32;
  /** The same for the grid sample after it, as far as data have arrived. */
  nextGap: i32;
  /** Newest sample, one sub-channel a lane, without its offset. */
  last: v128;
  /** Integral over the current grid interval; this and the next two are kept times six. */
  area: v128;
  /** Integral of that integral. */
  fall: v128;
  /** Area minus fall of the previous interval. */
  rise: v128;
  /** Offset subtracted from every sample of a sub-channel (NaN: no sample yet); the level of the signal is offset + ring. */
  offsets: Row<f64> = rowOf<f64>(MAX_SUBS);
  rings: Row<Ring> = rowOf<Ring>(MAX_SUBS);
  /** What its raw values are like. */
  span: Span = new Span();
  /** By second, as a ring: the value of `complete` when the first sample at or after that second arrived. */
  completeAt: Row<i32> = rowOf<i32>(SECONDS);
}
