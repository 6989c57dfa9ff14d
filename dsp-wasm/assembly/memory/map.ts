import { LONG_RING } from './channel';
import { Row, rowAt } from './row';

/**
 * The regions of the linear memory that all sessions share, as a chain: each begins where the previous one ends. The host
 * reads these addresses from the module's exported globals.
 *
 *   0          data of the compiler: constants, and tables that are computed once
 *   STAGING    incoming payload bytes, and outgoing beats
 *   REQUEST    one step; RESULT has its answer
 *   PUSH       times of the payload in STAGING: passing a float as an argument would allocate memory in the host
 *   LANE_COUNTS  counts of filled lanes
 *   FEATURES   the features of the newest answer (features.ts)
 *   DECODED    instants of the staged payload, four f32 lanes each
 *   SCRATCH    working arrays of one call; their contents end with the call
 *   RESAMPLED  grid samples before they are written to the rings, four f32 lanes each
 *   SLOTS      one slot for each session (session.ts)
 */

/** Bytes of a cache line; every region consists of whole lines. */
const LINE: i32 = 64;

/** A step that the host requests. */
@unmanaged
export class Request {
  /** Slot of the session; -1 for none. */
  slot: i32;
  estimator: i32;
  /** End of the window, seconds. */
  end: f64;
}
export const REQUEST_SLOT: usize = offsetof<Request>('slot');
export const REQUEST_ESTIMATOR: usize = offsetof<Request>('estimator');
export const REQUEST_END: usize = offsetof<Request>('end');

/** The answer to a request. */
@unmanaged
export class Estimate {
  value: f64;
  confidence: f64;
  /** What was seen that makes the reason, in a unit of its own (reasons.ts). */
  seen: f64;
  /** Standard deviation of the intervals, ms, and share of large differences, %: of the variability only. */
  sdnn: f64;
  pnn50: f64;
  /** 1 if there is an estimate, otherwise 0. */
  given: i32;
  /** Why there is none, or none to trust, as far as the sample values tell (reason.ts). */
  reason: i32;
}
export const RESULT_VALUE: usize = offsetof<Estimate>('value');
export const RESULT_CONFIDENCE: usize = offsetof<Estimate>('confidence');
export const RESULT_SEEN: usize = offsetof<Estimate>('seen');
export const RESULT_SDNN: usize = offsetof<Estimate>('sdnn');
export const RESULT_PNN50: usize = offsetof<Estimate>('pnn50');
export const RESULT_GIVEN: usize = offsetof<Estimate>('given');
export const RESULT_REASON: usize = offsetof<Estimate>('reason');

/** Times of the staged instants, seconds. */
@unmanaged
export class PushTimes {
  first: f64;
  period: f64;
}

/** Points in the four-lane kernels, see lanes.ts. */
@unmanaged
export class LaneCounts {
  points: f64;
  filled: f64;
}

/** Most features of a model. */
export const MOST_FEATURES: i32 = 32;

/** The features of the newest answer. */
@unmanaged
export class Features {
  /** Number of the model (features.ts). */
  model: i32;

  get values(): Row<f32> {
    return rowAt<f32>(changetype<usize>(this) + FEATURE_VALUES);
  }
}
/** Offset of the first value. */
export const FEATURE_VALUES: usize = 16;

export const STAGING: usize = 0x40000;
export const STAGING_BYTES: i32 = 0x4000;
export const REQUEST: usize = STAGING + STAGING_BYTES;
export const REQUEST_BYTES: i32 = LINE;
export const RESULT: usize = REQUEST + REQUEST_BYTES;
export const RESULT_BYTES: i32 = LINE;
export const PUSH: usize = RESULT + RESULT_BYTES;
export const PUSH_BYTES: i32 = LINE;
export const PUSH_FIRST: usize = PUSH + offsetof<PushTimes>('first');
export const PUSH_PERIOD: usize = PUSH + offsetof<PushTimes>('period');
export const LANE_COUNTS: usize = PUSH + PUSH_BYTES;
export const LANE_COUNTS_BYTES: i32 = LINE;
export const FEATURES: usize = LANE_COUNTS + LANE_COUNTS_BYTES;
export const FEATURES_BYTES: i32 = (<i32>FEATURE_VALUES + 4 * MOST_FEATURES + LINE - 1) & -LINE;
export const DECODED: usize = FEATURES + FEATURES_BYTES;
/** The smallest value of a payload has two bytes. */
export const DECODED_BYTES: i32 = (STAGING_BYTES / 2) * 16;
export const SCRATCH: usize = DECODED + DECODED_BYTES;
export const SCRATCH_BYTES: i32 = 0x20000;
export const RESAMPLED: usize = SCRATCH + SCRATCH_BYTES;
/** Most grid samples at a time: a gap as long as the longest ring. */
export const RESAMPLED_BYTES: i32 = LONG_RING * 16;
export const SLOTS: usize = RESAMPLED + RESAMPLED_BYTES;
