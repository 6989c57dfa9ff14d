/**
 * How full the four lanes are where each carries another signal (a sub-channel, a light, an axis, a series): counted per
 * point that passes. Where neighbouring cells of one signal fill the lanes they are full by construction.
 */
let points: f64 = 0;
let filledPoints: f64 = 0;

/** Counts `count` points that passed in four lanes, of which `filled` carried a signal. */
export function countLanes(filled: i32, count: i32): void {
  points += 4 * <f64>count;
  filledPoints += <f64>filled * <f64>count;
}

/** Points that passed in all lanes since the start. */
export function lanePoints(): f64 {
  return points;
}

/** Those of them in lanes that carried a signal. */
export function filledLanePoints(): f64 {
  return filledPoints;
}
