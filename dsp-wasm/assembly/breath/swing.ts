import { TRUSTED } from '../grid/tuning';
import { sumLanes } from '../math/vector';
import { Track } from '../memory/breath_state';
import { Estimate } from '../memory/map';
import { NEWEST, NEWEST_MEAN, POINTS, SERIES, SWING, WHOLE } from './scratch';
import { SERIES_HZ } from './series';
import {
  BREATHES_ON,
  DEEPER,
  LONGEST_HELD,
  NEARBY,
  SHALLOWER,
  SWING_MEMORY,
  UNEXPLAINED,
  USUAL_MEMORY,
} from './tuning';

/**
 * Whether the breath goes on. The posterior remembers a rate for minutes, also while a breath is held and the beats go on. So the swing
 * of the series at the answered rate, in the newest half of the window alone, is compared with that of the session's trusted windows. A
 * series counts by how much it usually swings, relative to the rest of it.
 */

/** Pairs of points in the newest half of a window, 16 s. */
const HALF: i32 = POINTS / 4;

/** Keeps the newest half of the `n` points of the SERIES, whose drift has been removed, before their spectrum destroys them: sums of two points. */
export function keepNewest(n: i32): void {
  const pairs = pairsOf(n);
  const from = n - 2 * pairs;
  let sum = f32x4.splat(0);
  for (let i = 0; i < pairs; i++) {
    const pair = f32x4.add(SERIES[from + 2 * i], SERIES[from + 2 * i + 1]);
    NEWEST[i] = pair;
    sum = f32x4.add(sum, pair);
  }
  NEWEST_MEAN[0] = f32x4.mul(sum, f32x4.splat(<f32>1 / <f32>pairs));
}

function pairsOf(n: i32): i32 {
  return min(n / 2, HALF);
}

/**
 * Lowers the confidence of an answer whose rate the newest half of the `n` points shows no longer, and remembers the swing where all of it is
 * there: a breath that ends or begins in the window would make less of it usual.
 * @param alive lanes that hold a series, all bits set
 */
export function doubtHeld(track: Track, n: i32, alive: v128, to: Estimate): void {
  measure(<f32>to.value, pairsOf(n));
  const swing = v128.and(alive, SWING[0]);
  const whole = v128.and(alive, WHOLE[0]);
  track.held += SWING_MEMORY * (<f32>1 - swingLeft(track, swing) - track.held);
  const before = to.confidence;
  const goesOn: f32 = (<f32>1 - track.held) / BREATHES_ON;
  to.confidence *= <f64>min<f32>(1, goesOn);
  if (before < TRUSTED) return;
  if (goesOn >= 1) remember(track, swing, whole);
  else if (++track.doubted > LONGEST_HELD) lowerUsual(track);
}

/** Writes WHOLE, the energy of the newest half, and SWING, that of the strongest of three sinusoids at the rate (per minute) and near it (Goertzel 1958). */
function measure(rate: f32, pairs: i32): void {
  const slow = turn(rate - NEARBY);
  const middle = turn(rate);
  const fast = turn(rate + NEARBY);
  const mean = NEWEST_MEAN[0];
  let whole = f32x4.splat(0);
  let a = whole;
  let a1 = whole;
  let b = whole;
  let b1 = whole;
  let c = whole;
  let c1 = whole;
  for (let i = 0; i < pairs; i++) {
    const x = f32x4.sub(NEWEST[i], mean);
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
  SWING[0] = f32x4.mul(most, f32x4.splat(<f32>2 / <f32>pairs));
  WHOLE[0] = whole;
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
function swingLeft(track: Track, swing: v128): f32 {
  const usual = track.swings;
  const whole = track.wholes;
  const rest = f32x4.pmax(f32x4.sub(whole, usual), f32x4.mul(f32x4.splat(UNEXPLAINED), whole));
  const weight = f32x4.div(usual, f32x4.pmax(rest, f32x4.splat(f32.MIN_NORMAL_VALUE)));
  const part = f32x4.pmin(f32x4.splat(1), f32x4.div(f32x4.mul(swing, f32x4.splat(track.windows)), usual));
  const sum = sumLanes(weight);
  return sum > 0 ? sumLanes(f32x4.mul(weight, part)) / sum : 1;
}

/**
 * Lowers what is usual: the sums shrink. The number of windows stays below 1 / USUAL_MEMORY, however long a doubt lasts, so that a trusted
 * window after it counts as much as one before it.
 */
function lowerUsual(track: Track): void {
  const kept = f32x4.splat(<f32>1 - SHALLOWER);
  track.swings = f32x4.mul(track.swings, kept);
  track.wholes = f32x4.mul(track.wholes, kept);
}

/** Adds the window to the trusted ones; a much deeper swing counts only as a little deeper one, so that no single event sets what is usual. */
function remember(track: Track, swing: v128, whole: v128): void {
  const most = f32x4.mul(track.swings, f32x4.splat(DEEPER / track.windows));
  const part = f32x4.pmin(f32x4.splat(1), f32x4.div(most, swing));
  const share = v128.bitselect(part, f32x4.splat(1), f32x4.gt(most, f32x4.splat(0)));
  const kept = f32x4.splat(<f32>1 - USUAL_MEMORY);
  track.doubted = 0;
  track.windows = track.windows * (<f32>1 - USUAL_MEMORY) + 1;
  track.swings = f32x4.add(f32x4.mul(track.swings, kept), f32x4.mul(share, swing));
  track.wholes = f32x4.add(f32x4.mul(track.wholes, kept), f32x4.mul(share, whole));
}
