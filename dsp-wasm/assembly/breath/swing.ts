import { sumLanes } from '../math/vector';
import { Track } from '../memory/breath_state';
import { Energy, NEWEST, POINTS, SERIES_HZ, Series } from './scratch';
import { SWING } from './tuning';

/**
 * Whether the breath goes on. The posterior remembers a rate for minutes, also while a breath is held and the beats go on. So the energy
 * of the series at the answered rate, in the newest half of the window alone, is compared with that of the session's trusted windows. A
 * series counts by how much it usually varies at that rate, relative to the rest of it.
 */

/** Pairs of points in the newest half of a window, 16 s. */
const HALF: i32 = POINTS / 4;

/**
 * How much of the usual swing at a rate is there in the newest half of the series, from 0 to 1; 1 from SWING.GOES_ON of it on. Notes its energy where
 * all of it is there: a breath that ends or begins in the window would lower the usual energy.
 * @param series without their drift
 * @param alive lanes that tell whether the breath goes on, all bits set
 * @param rate that is trusted if it is there, per minute
 */
export function swingLeft(track: Track, series: Series, alive: v128, rate: f32): f32 {
  measure(series, rate, NEWEST);
  const swing = v128.and(alive, NEWEST.swing);
  const goesOn = min<f32>(1, partOfUsual(track, swing) / SWING.GOES_ON);
  if (goesOn === 1) remember(track, swing, v128.and(alive, NEWEST.whole));
  else if (++track.doubted > SWING.LONGEST_HELD) lowerUsual(track);
  return goesOn;
}

/** Energy of the newest half of the series, in pairs of points, and that of the strongest of three sinusoids at the rate (per minute) and near it (Goertzel 1958). */
function measure(series: Series, rate: f32, to: Energy): void {
  const pairs = min(series.n / 2, HALF);
  const from = series.n - 2 * pairs;
  let mean = f32x4.splat(0);
  for (let i = from; i < series.n; i++) mean = f32x4.add(mean, series.points[i]);
  mean = f32x4.mul(mean, f32x4.splat(<f32>1 / <f32>pairs));
  const slow = turn(rate - SWING.NEARBY);
  const middle = turn(rate);
  const fast = turn(rate + SWING.NEARBY);
  let whole = f32x4.splat(0);
  let a = whole;
  let a1 = whole;
  let b = whole;
  let b1 = whole;
  let c = whole;
  let c1 = whole;
  for (let i = from; i < series.n; i += 2) {
    const x = f32x4.sub(f32x4.add(series.points[i], series.points[i + 1]), mean);
    const a0 = f32x4.add(f32x4.sub(x, a1), f32x4.mul(slow, a));
    const b0 = f32x4.add(f32x4.sub(x, b1), f32x4.mul(middle, b));
    const c0 = f32x4.add(f32x4.sub(x, c1), f32x4.mul(fast, c));
    a1 = a;
    b1 = b;
    c1 = c;
    a = a0;
    b = b0;
    c = c0;
    whole = f32x4.add(whole, f32x4.mul(x, x));
  }
  const most = f32x4.pmax(f32x4.pmax(square(a, a1, slow), square(b, b1, middle)), square(c, c1, fast));
  to.swing = f32x4.mul(most, f32x4.splat(<f32>2 / <f32>pairs));
  to.whole = whole;
}

/** Twice the cosine of the turn from pair to pair. */
function turn(rate: f32): v128 {
  return f32x4.splat(<f32>(2 * Math.cos(((4 * Math.PI) / (60 * SERIES_HZ)) * <f64>rate)));
}

/** Squared magnitude of the transform that ended with these two values. */
function square(a: v128, a1: v128, turn: v128): v128 {
  return f32x4.add(f32x4.mul(a1, a1), f32x4.mul(a, f32x4.sub(a, f32x4.mul(turn, a1))));
}

/** Part of the usual swing that is there, at most all of it; all of it where none is known. */
function partOfUsual(track: Track, swing: v128): f32 {
  const usual = track.swings;
  const whole = track.wholes;
  const rest = f32x4.pmax(f32x4.sub(whole, usual), f32x4.mul(f32x4.splat(SWING.LEAST_REST), whole));
  const weight = f32x4.div(usual, f32x4.pmax(rest, f32x4.splat(f32.MIN_NORMAL_VALUE)));
  const part = f32x4.pmin(f32x4.splat(1), f32x4.div(f32x4.mul(swing, f32x4.splat(track.windows)), usual));
  const sum = sumLanes(weight);
  return sum > 0 ? sumLanes(f32x4.mul(weight, part)) / sum : 1;
}

/**
 * Lowers the usual energy: the sums shrink. The number of windows stays below 1 / USUAL_MEMORY, however long a doubt lasts, so that a trusted
 * window after it counts as much as one before it.
 */
function lowerUsual(track: Track): void {
  const kept = f32x4.splat(<f32>1 - SWING.SHALLOWER);
  track.swings = f32x4.mul(track.swings, kept);
  track.wholes = f32x4.mul(track.wholes, kept);
}

/** Adds the window to the trusted ones; a much deeper swing counts only as a little deeper one, so that no single event sets the usual energy. */
function remember(track: Track, swing: v128, whole: v128): void {
  const most = f32x4.mul(track.swings, f32x4.splat(SWING.DEEPER / track.windows));
  const part = f32x4.pmin(f32x4.splat(1), f32x4.div(most, swing));
  const share = v128.bitselect(part, f32x4.splat(1), f32x4.gt(most, f32x4.splat(0)));
  const kept = f32x4.splat(<f32>1 - SWING.USUAL_MEMORY);
  track.doubted = 0;
  track.windows = track.windows * (<f32>1 - SWING.USUAL_MEMORY) + 1;
  track.swings = f32x4.add(f32x4.mul(track.swings, kept), f32x4.mul(share, swing));
  track.wholes = f32x4.add(f32x4.mul(track.wholes, kept), f32x4.mul(share, whole));
}
