import { followBreath, TRACK_RESP } from './breath';
import { KIND_RESP, SCRATCH, SLOW_HZ } from './layout';
import { clearSeries, SERIES } from './modulation';
import { channelOfKind } from './session';
import { POINTS } from './breath_spectrum';
import { cellsAt, copyCells, fillEmpty } from './window';

const CELLS: i32 = 1024; // the window, 32 s
const STRIDE: i32 = 8; // cells of a point
/** Least part of the window that must be there: 12 s. */
const ENOUGH: i32 = 384;
const RAW: usize = SCRATCH;

/**
 * Estimate of the window that ends at `end` (seconds), by the effort itself: writes OUT_VALUE and OUT_CONFIDENCE; 1,
 * or 0 for none.
 */
export function estimateRrResp(slot: usize, end: f64): i32 {
  const channel = channelOfKind(slot, KIND_RESP);
  if (!channel) return 0;
  const from = <i32>end * SLOW_HZ - CELLS;
  if (copyCells(channel, 0, from, CELLS, cellsAt(channel, end), RAW) < ENOUGH) return 0;
  const n = POINTS - firstPoint();
  fillEmpty(RAW, CELLS);
  clearSeries(n);
  average(n);
  return followBreath(slot, TRACK_RESP, end, n, 60, 1);
}

/** First point (even) from which on the window holds data. */
function firstPoint(): i32 {
  let i = 0;
  while (i < CELLS && isNaN(load<f32>(RAW + (<usize>i << 2)))) i++;
  return (i / STRIDE) & ~1;
}

/** Averages the last n x STRIDE cells to n points of 1/4 s, in the first lane. */
function average(n: i32): void {
  let x = RAW + (<usize>((POINTS - n) * STRIDE) << 2);
  for (let i = 0; i < n; i++) {
    let sum: f32 = 0;
    for (let j = 0; j < STRIDE; j++, x += 4) sum += load<f32>(x);
    store<f32>(SERIES + (<usize>i << 4), sum);
  }
}
