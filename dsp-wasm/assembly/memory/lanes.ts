import { LANE_COUNTS, LaneCounts } from './map';

/**
 * How full the four lanes are where each carries another signal (a sub-channel, an optical channel, an axis, a series),
 * counted per point that passes. Where neighbouring samples of one signal fill the lanes, they are full by construction.
 */
const counts = changetype<LaneCounts>(LANE_COUNTS);

/** Counts `count` points that passed in four lanes, of which `filled` carried a signal. */
export function countLanes(filled: i32, count: i32): void {
  counts.points += 4 * <f64>count;
  counts.filled += <f64>filled * <f64>count;
}

/** Points that passed in all lanes since the start. */
export function lanePoints(): f64 {
  return counts.points;
}

/** Those of them in lanes that carried a signal. */
export function filledLanePoints(): f64 {
  return counts.filled;
}
