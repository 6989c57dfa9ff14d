/**
 * Counts how full the four lanes are in kernels where each lane carries another signal (a sub-channel, an optical channel, an
 * axis, a series). Kernels whose lanes hold neighbouring samples of one signal are not counted: they are always full.
 */
let points: f64 = 0;
let used: f64 = 0;

/** Counts `count` points in four lanes, of which `filled` lanes carried a signal. */
export function countLanes(filled: i32, count: i32): void {
  points += 4 * <f64>count;
  used += <f64>filled * <f64>count;
}

/** Points in all lanes since the start. */
export function lanePoints(): f64 {
  return points;
}

/** The part of them in lanes that carried a signal. */
export function filledLanePoints(): f64 {
  return used;
}
