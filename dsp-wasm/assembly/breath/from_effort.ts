import { completeBy, copyGrid, fillEmpty } from '../grid/window';
import { KIND_RESP, SLOW_HZ } from '../memory/channel';
import { Estimate } from '../memory/map';
import { channelOfKind, Session } from '../memory/session';
import { POINTS, RAW } from './scratch';
import { clearSeries, laneOf } from './series';
import { FROM_EFFORT, followBreath } from './tracker';
import { ENOUGH_SAMPLES } from './tuning';

/** Grid samples of a point, and of the window, 32 s. */
const STRIDE: i32 = 8;
const WINDOW: i32 = POINTS * STRIDE;

/** Estimate of the window that ends at `end` (seconds), from the effort signal: writes rate and confidence; false for none. */
export function estimateRrResp(session: Session, end: f64, to: Estimate): bool {
  const channel = channelOfKind(session, KIND_RESP);
  if (!channel) return false;
  const from = <i32>end * SLOW_HZ - WINDOW;
  if (copyGrid(channel, 0, from, WINDOW, completeBy(channel, end), RAW.at(0)) < ENOUGH_SAMPLES) return false;
  const n = POINTS - firstPoint();
  fillEmpty(RAW.at(0), WINDOW);
  clearSeries(n);
  average(n);
  return followBreath(session.breath, FROM_EFFORT, end, n, 60, 1, 1, f32x4.splat(0), to);
}

/** First point (even) from which on the window has data. */
function firstPoint(): i32 {
  let i = 0;
  while (i < WINDOW && isNaN(RAW[i])) i++;
  return (i / STRIDE) & ~1;
}

/** Averages the last n x STRIDE grid samples to n points of 1/4 s, in the first lane. */
function average(n: i32): void {
  const series = laneOf(0);
  for (let i = 0; i < n; i++) {
    const from = (POINTS - n + i) * STRIDE;
    let sum: f32 = 0;
    for (let j = 0; j < STRIDE; j++) sum += RAW[from + j];
    series[4 * i] = sum;
  }
}
