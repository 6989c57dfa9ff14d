/**
 * What the newest 8 s or so of a channel's raw values are like, one sub-channel a lane: counts of the observed instants, which fade.
 * Written by grid/span.ts.
 */
@unmanaged
export class Span {
  /** Observed instants. */
  count: v128;
  /** Instants at an end of the declared range, and at rest at an extreme of what was seen. */
  ends: v128;
  rests: v128;
  /** Instants far outside the declared range. */
  outside: v128;
  /** Instants that no converter gives, and steps over more than half of the range. */
  broken: v128;
  /** Steps of about the power of two that holds all values, as where upper bits are missing, less twice those of other great sizes. */
  wraps: v128;
  /** Instants that are not whole numbers: values in a unit, not counts. */
  fractions: v128;
  /** Highest and lowest values, without the sub-channel's offset; they fade towards their middle. */
  high: v128;
  low: v128;
}

export const SPAN_BYTES: usize = offsetof<Span>();
