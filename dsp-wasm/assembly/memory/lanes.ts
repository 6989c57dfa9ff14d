import { LANE_COUNTS, LaneCounts } from './map';

/**
 * Counts how full the four lanes are in kernels where each lane carries another signal (a sub-channel, an optical channel, an
 * axis, a series). Kernels whose lanes hold neighbouring samples of one signal are not counted: they are always full.
 */
const counts = changetype<LaneCounts>(LANE_COUNTS);

/** Counts `count` points in four lanes, of which `filled` lanes carried a signal. */
export function countLanes(filled: i32, count: i32): void {
  counts.points += 4 * <f64>count;
  counts.filled += <f64>filled * <f64>count;
}

/** Points in all lanes since the start. */
export function lanePoints(): f64 {
  return counts.points;
}

/** The part of them in lanes that carried a signal. */
export function filledLanePoints(): f64 {
  return counts.filled;
}
