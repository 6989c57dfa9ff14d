import { completeBy, copyGrid, fillEmpty } from '../grid/window';
import { parabolaAt, vertex } from '../math/parabola';
import { BreathState } from '../memory/breath_state';
import { Channel, SLOW_HZ } from '../memory/channel';
import { Row } from '../memory/row';
import { BAND, ENERGY, MEAN, NEAR, RAW, WIDE } from './scratch';
import {
  BEAT_HALF,
  DRIFT_HALF,
  ENERGY_OFFSET,
  FOOT_REACH,
  REFRACTORY,
  SHORTEST_STRETCH,
  SMOOTH_HALF,
  SYSTOLE_HALF,
  UNFINISHED,
  WIDTH_LEVEL,
} from './tuning';

/**
 * Pulses of one optical channel, found by two moving averages (Elgendi et al., PLoS ONE 8(10):e76585, 2013): wherever the
 * squared band-passed signal, averaged over a systolic peak, exceeds its average over a beat, its maximum is a pulse. The
 * band-pass is a short moving average minus a one-second one, without delay or settling time. Each call processes the grid
 * samples since the last call, and keeps time, height, baseline and width of the latest pulses for the respiratory modulations. The
 * polarity of the signal does not matter: in an inverted signal it finds the feet.
 */

/** Ticks per second. Times are i32 in ticks: they wrap after 24 days, which is harmless. */
export const PULSE_TICKS: f64 = 1024;

const LOOKAHEAD: i32 = DRIFT_HALF + BEAT_HALF;
/** Grid samples before the first searched one, which the averages and the search for the pulse's foot need. */
const MARGIN: i32 = 64;
const LONGEST: i32 = 32 * SLOW_HZ;

/** Finds the pulses of the channel up to `end` (seconds); a change of channel starts 32 s back. */
export function advancePulses(state: BreathState, channel: Channel, end: f64): void {
  if (state.channel !== channel) {
    state.channel = channel;
    state.cursor = 0;
    state.pulseCount = 0;
  }
  const limit = completeBy(channel, end);
  state.cursor = max(state.cursor, limit - LONGEST);
  const start = state.cursor - MARGIN;
  const count = limit - start;
  if (count <= LOOKAHEAD + MARGIN) return;
  if (!copyGrid(channel, 0, start, count, limit, RAW.at(0)) || isFlat(count)) {
    state.cursor = max(state.cursor, limit - LOOKAHEAD);
    return;
  }
  fillEmpty(RAW.at(0), count);
  state.cursor = start + search(state, start, count, bandPass(count));
}

/** Whether all grid samples are equal or empty, so that an optical channel that is off or clipped is not searched. */
function isFlat(count: i32): bool {
  let any: f32 = NaN;
  for (let i = 0; i < count; i++) {
    const x = RAW[i];
    if (isNaN(x) || x === any) continue;
    if (!isNaN(any)) return false;
    any = x;
  }
  return true;
}

/** Fills the rows; returns the level by which NEAR must exceed WIDE. */
function bandPass(count: i32): f32 {
  movingMean(RAW, count, DRIFT_HALF, MEAN);
  movingMean(RAW, count, SMOOTH_HALF, BAND);
  let sum: f64 = 0;
  for (let i = 0; i < count; i++) {
    const inside = i >= DRIFT_HALF && i < count - DRIFT_HALF;
    const y: f32 = inside ? BAND[i] - MEAN[i] : 0;
    const energy: f32 = y > 0 ? y * y : 0;
    BAND[i] = y;
    ENERGY[i] = energy;
    sum += energy;
  }
  movingMean(ENERGY, count, SYSTOLE_HALF, NEAR);
  movingMean(ENERGY, count, BEAT_HALF, WIDE);
  return ENERGY_OFFSET * <f32>(sum / <f64>count);
}

/**
 * y[i] = mean of x[i - half .. i + half]; the first and last `half` values are invalid. Each sum is computed from its values,
 * sixteen sums at a time: at these widths this is faster than a running sum, and a huge value leaves no rounding error behind.
 */
function movingMean(row: Row<f32>, count: i32, half: i32, means: Row<f32>): void {
  const width = 2 * half + 1;
  const reach = (<usize>(width - 1)) << 2;
  const scale = f32x4.splat(<f32>1 / <f32>width);
  const past = row.at(count - width + 1);
  let to = means.at(half);
  for (let x = row.at(0); x < past; x += 64, to += 64) {
    let a = v128.load(x);
    let b = v128.load(x, 16);
    let c = v128.load(x, 32);
    let d = v128.load(x, 48);
    for (let j = x + 4; j <= x + reach; j += 4) {
      a = f32x4.add(a, v128.load(j));
      b = f32x4.add(b, v128.load(j, 16));
      c = f32x4.add(c, v128.load(j, 32));
      d = f32x4.add(d, v128.load(j, 48));
    }
    v128.store(to, f32x4.mul(a, scale));
    v128.store(to, f32x4.mul(b, scale), 16);
    v128.store(to, f32x4.mul(c, scale), 32);
    v128.store(to, f32x4.mul(d, scale), 48);
  }
}

/** Records the pulses of the finished stretches; returns the first grid sample (of the rows) that has not been searched. */
function search(state: BreathState, start: i32, count: i32, level: f32): i32 {
  const stop = count - LOOKAHEAD;
  let i = MARGIN;
  while (i < stop) {
    if (!above(i, level)) {
      i++;
      continue;
    }
    let j = i + 1;
    while (j < stop && above(j, level)) j++;
    if (j === stop && j - i < UNFINISHED) break;
    if (j - i >= SHORTEST_STRETCH) notePeak(state, start, highest(i, j));
    i = j;
  }
  return i;
}

function above(i: i32, level: f32): bool {
  return NEAR[i] > WIDE[i] + level;
}

function highest(from: i32, to: i32): i32 {
  let best = from;
  for (let i = from + 1; i < to; i++) if (BAND[i] > BAND[best]) best = i;
  return best;
}

/** Appends the pulse whose maximum is value k of the rows, or replaces a lower one just before it. */
function notePeak(state: BreathState, start: i32, k: i32): void {
  const found = state.pulseCount;
  const top = vertex<f64>(<f64>BAND[k - 1], <f64>BAND[k], <f64>BAND[k + 1]);
  const time = <i32>Math.round((<f64>(start + k) + top) * (PULSE_TICKS / <f64>SLOW_HZ));
  const since = found ? time - state.pulseAt(found - 1).time : i32.MAX_VALUE;
  const twin = since < (REFRACTORY * <i32>PULSE_TICKS) / SLOW_HZ;
  if (twin && BAND[k] <= state.level) return;
  const pulse = state.pulseAt(twin ? found - 1 : found);
  pulse.time = time;
  const low = foot(k);
  pulse.height = between(BAND, k, top) - low;
  pulse.width = widthAbove(k, low + WIDTH_LEVEL * pulse.height);
  pulse.baseline = between(MEAN, k, top);
  state.level = BAND[k];
  state.pulseCount = twin ? found : found + 1;
}

/** Time for which the row stays above the level about value k, s; NaN if that begins or ends beyond what is searched. */
function widthAbove(k: i32, level: f32): f32 {
  let from = k;
  while (from > k - BEAT_HALF && BAND[from] > level) from--;
  let to = k;
  while (to < k + BEAT_HALF && BAND[to] > level) to++;
  if (BAND[from] > level || BAND[to] > level || from === to) return NaN;
  return (crossing(to, -1, level) - crossing(from, 1, level)) / <f32>SLOW_HZ;
}

/**
 * Where the row crosses the level between value i, which is below, and the next one in direction `step`: on the line through both, and then
 * by one step of Newton's method on the parabola with the mean bend about them.
 */
function crossing(i: i32, step: i32, level: f32): f32 {
  const below = BAND[i];
  const above = BAND[i + step];
  const rise = above - below;
  const half = <f32>0.25 * (BAND[i - step] - below - above + BAND[i + 2 * step]);
  const t = (level - below) / rise;
  const there = t + (half * t * (1 - t)) / (rise - half * (1 - 2 * t));
  return <f32>i + <f32>step * there;
}

function foot(k: i32): f32 {
  let lowest = k;
  for (let i = k - FOOT_REACH; i < k; i++) if (BAND[i] < BAND[lowest]) lowest = i;
  const offset = vertex<f64>(-(<f64>BAND[lowest - 1]), -(<f64>BAND[lowest]), -(<f64>BAND[lowest + 1]));
  return between(BAND, lowest, offset);
}

/**
 * The row's value `offset` grid samples after value k: what lies between grid samples, as else heights and baselines of a regular
 * pulse would beat with the grid.
 */
function between(row: Row<f32>, k: i32, offset: f64): f32 {
  return <f32>parabolaAt<f64>(<f64>row[k - 1], <f64>row[k], <f64>row[k + 1], offset);
}
