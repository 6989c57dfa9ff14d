import { completeBy, copyGrid, fillEmpty } from '../grid/window';
import { KIND_RESP, SLOW_HZ } from '../memory/channel';
import { Estimate } from '../memory/map';
import { channelOfKind, Session } from '../memory/session';
import { POINTS, RAW, SERIES, Series } from './scratch';
import { FROM_EFFORT } from './source';
import { followBreath } from './tracker';

/** Grid samples of a point, and of the window, 32 s. */
const STRIDE: i32 = 8;
const WINDOW: i32 = POINTS * STRIDE;

/** Estimate of the window that ends at `end` (seconds), from the effort signal: writes rate and confidence; false for none. */
export function estimateRrResp(session: Session, end: f64, to: Estimate): bool {
  const channel = channelOfKind(session, KIND_RESP);
  if (!channel) return false;
  const from = <i32>end * SLOW_HZ - WINDOW;
  if (!copyGrid(channel, 0, from, WINDOW, completeBy(channel, end), RAW.at(0))) return false;
  const first = firstPoint();
  fillEmpty(RAW.at(0), WINDOW);
  average(first, SERIES);
  return followBreath(session.breath, FROM_EFFORT, end, SERIES, to);
}

/** First point (even) from which on the window has data. */
function firstPoint(): i32 {
  let i = 0;
  while (i < WINDOW && isNaN(RAW[i])) i++;
  return (i / STRIDE) & ~1;
}

/** The points of 1/4 s from `first` on, as sums of grid samples, in the first lane. */
function average(first: i32, series: Series): void {
  series.n = POINTS - first;
  series.lanes = i32x4(-1, 0, 0, 0);
  series.resolution = f32x4.splat(0);
  series.beatRate = Infinity;
  series.share = 1;
  series.trust = 1;
  memory.fill(series.points.at(0), 0, (<usize>series.n) << 4);
  const points = series.lane(0);
  for (let i = 0; i < series.n; i++) {
    const from = (first + i) * STRIDE;
    let sum: f32 = 0;
    for (let j = 0; j < STRIDE; j++) sum += RAW[from + j];
    points[4 * i] = sum;
  }
}
