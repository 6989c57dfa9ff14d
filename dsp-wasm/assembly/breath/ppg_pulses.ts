import { completeBy, copyGrid, fillEmpty } from '../grid/window';
import { vertex } from '../math/parabola';
import { extremumNear, fitQuartic, quarticAt } from '../math/quartic';
import { Channel, SLOW_HZ } from '../memory/channel';
import { PulseTrain } from '../memory/pulse_train';
import { Row } from '../memory/row';
import { BAND, ENERGY, MEAN, NEAR, RAW, WIDE } from './scratch';
import { LIGHT, PULSE } from './tuning';

/**
 * Pulses of one optical channel, found by two moving averages (Elgendi et al., PLoS ONE 8(10):e76585, 2013): wherever the
 * squared band-passed signal, averaged over a systolic peak, exceeds its average over a beat, its maximum is a pulse. The
 * band-pass is a short moving average minus a one-second one, without delay or settling time. Each call processes the grid
 * samples since the last call, and keeps time, height and baseline of the latest pulses for the respiratory modulations. The
 * polarity of the signal does not matter: light that falls with the blood is turned.
 */

const LOOKAHEAD: i32 = PULSE.DRIFT_HALF + PULSE.BEAT_HALF;
/** Grid samples before the first searched one, which the averages and the search for the pulse's foot need. */
const MARGIN: i32 = 64;
const LONGEST: i32 = 32 * SLOW_HZ;

/** Finds the pulses of the channel up to `end` (seconds); a change of channel starts 32 s back. */
export function advancePulses(train: PulseTrain, channel: Channel, end: f64): void {
  if (train.channel !== channel) {
    train.channel = channel;
    train.cursor = 0;
    train.count = 0;
    train.polarity = 0;
    train.sharpness = 0;
  }
  const limit = completeBy(channel, end);
  train.cursor = max(train.cursor, limit - LONGEST);
  const start = train.cursor - MARGIN;
  const count = limit - start;
  if (count <= LOOKAHEAD + MARGIN) return;
  if (!copyGrid(channel, 0, start, count, limit, RAW.at(0)) || isFlat(count)) {
    train.cursor = max(train.cursor, limit - LOOKAHEAD);
    return;
  }
  fillEmpty(RAW.at(0), count);
  bandPass(count);
  if (findPolarity(train, count)) {
    train.cursor = start + search(train, start, count, energyLevel(count, train.polarity));
  } else {
    train.channel = null; // What was found are feet: start 32 s back.
    advancePulses(train, channel, end);
  }
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

/** Fills MEAN and BAND. */
function bandPass(count: i32): void {
  movingMean(RAW, count, PULSE.DRIFT_HALF, MEAN);
  movingMean(RAW, count, PULSE.SMOOTH_HALF, BAND);
  for (let i = 0; i < count; i++) {
    const inside = i >= PULSE.DRIFT_HALF && i < count - PULSE.DRIFT_HALF;
    BAND[i] = inside ? BAND[i] - MEAN[i] : 0;
  }
}

/**
 * Finds whether the light rises or falls with the blood: the heart fills the vessels faster than they empty, so that the steeper slopes are those of
 * the upstrokes. Returns false if it is known by now that the pulses so far have the other polarity.
 */
function findPolarity(train: PulseTrain, count: i32): bool {
  let squares: f64 = 0;
  let cubes: f64 = 0;
  for (let i = PULSE.DRIFT_HALF + 1; i < count - PULSE.DRIFT_HALF; i++) {
    const slope = <f64>(BAND[i] - BAND[i - 1]);
    squares += slope * slope;
    cubes += slope * slope * slope;
  }
  const mean = squares / <f64>(count - 2 * PULSE.DRIFT_HALF - 1);
  const skew = squares > 0 ? <f32>(cubes / squares / Math.sqrt(mean)) : 0;
  if (train.polarity === 0) {
    train.skew = skew;
    train.polarity = skew < 0 ? -1 : 1;
  }
  train.skew += LIGHT.PASSED * (skew - train.skew);
  return train.skew * train.polarity >= 0;
}

/** Gives BAND that polarity, fills the rows of its energy, and returns the level by which NEAR must exceed WIDE. */
function energyLevel(count: i32, polarity: f32): f32 {
  let sum: f64 = 0;
  for (let i = 0; i < count; i++) {
    const y = BAND[i] * polarity;
    const energy: f32 = y > 0 ? y * y : 0;
    BAND[i] = y;
    ENERGY[i] = energy;
    sum += energy;
  }
  movingMean(ENERGY, count, PULSE.SMOOTH_HALF, NEAR);
  movingMean(ENERGY, count, PULSE.BEAT_HALF, WIDE);
  return PULSE.ENERGY_OFFSET * <f32>(sum / <f64>count);
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
function search(train: PulseTrain, start: i32, count: i32, level: f32): i32 {
  const stop = count - LOOKAHEAD;
  let i = MARGIN;
  while (i < stop) {
    if (!above(i, level)) {
      i++;
      continue;
    }
    let j = i + 1;
    while (j < stop && above(j, level)) j++;
    if (j === stop) break;
    if (j - i >= PULSE.SHORTEST_STRETCH) notePeak(train, start, highest(i, j));
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
function notePeak(train: PulseTrain, start: i32, k: i32): void {
  const found = train.count;
  fitAbout(BAND, k);
  const top = extremumNear(vertex<f32>(BAND[k - 1], BAND[k], BAND[k + 1]));
  const high = quarticAt(top);
  const time = (<f64>(start + k) + <f64>top) / SLOW_HZ;
  const since = gridSince(train, found - 1, time);
  let foot = lowest(k, since);
  const twin = found > 0 && isTwin(k, since, BAND[foot], train);
  if (twin && BAND[k] <= train.level) return;
  const own = twin ? found - 1 : found;
  if (twin) foot = lowest(k, gridSince(train, own - 1, time));
  const pulse = train.pulseAt(own);
  pulse.time = time;
  pulse.rise = <f32>((<f64>k + <f64>top - steepest(foot, k)) / SLOW_HZ);
  pulse.height = high - lowAt(foot);
  fitAbout(MEAN, k);
  pulse.baseline = quarticAt(top);
  train.level = BAND[k];
  train.count = own + 1;
  const sharpness: f32 = sixthDifference(k) / pulse.height;
  train.sharpness += LIGHT.PASSED * ((sharpness < 1 ? sharpness : 1) - train.sharpness);
}

/** Where the upstroke from value `foot` to value k is steepest. */
function steepest(foot: i32, k: i32): f64 {
  let best = k - 1;
  for (let i = max(foot, k - PULSE.DRIFT_HALF); i < k; i++) if (riseAt(i) > riseAt(best)) best = i;
  fitQuartic(riseAt(best - 2), riseAt(best - 1), riseAt(best), riseAt(best + 1), riseAt(best + 2));
  return <f64>best + 0.5 + <f64>extremumNear(vertex<f32>(riseAt(best - 1), riseAt(best), riseAt(best + 1)));
}

/** Rise of the band-passed light after value i. */
function riseAt(i: i32): f32 {
  return BAND[i + 1] - BAND[i];
}

/** Magnitude of the sixth difference at value k: what the polynomial through five values leaves to the two beside them. */
function sixthDifference(k: i32): f32 {
  const sum: f32 = BAND[k - 3] + BAND[k + 3] - 6 * (BAND[k - 2] + BAND[k + 2]) + 15 * (BAND[k - 1] + BAND[k + 1]);
  return abs(sum - 20 * BAND[k]);
}

/** Grid samples from that pulse (below 0 for none) to the time, at most PULSE.FOOT_REACH. */
function gridSince(train: PulseTrain, pulse: i32, time: f64): i32 {
  if (pulse < 0) return PULSE.FOOT_REACH;
  return <i32>Math.min(PULSE.FOOT_REACH, (time - train.pulseAt(pulse).time) * SLOW_HZ);
}

/**
 * Whether the maximum at value k and the one `since` grid samples before it are of one pulse: close, or with a shallow valley between them, as before
 * a second wave.
 */
function isTwin(k: i32, since: i32, valley: f32, train: PulseTrain): bool {
  if (since < PULSE.REFRACTORY) return true;
  if (since >= PULSE.FOOT_REACH) return false;
  return min(BAND[k], train.level) - valley < PULSE.SHALLOW * train.pulseAt(train.count - 1).height;
}

/** The lowest value about value `at`. */
function lowAt(at: i32): f32 {
  fitAbout(BAND, at);
  return quarticAt(extremumNear(vertex<f32>(-BAND[at - 1], -BAND[at], -BAND[at + 1])));
}

/** Place of the lowest value up to `reach` grid samples before value k. */
function lowest(k: i32, reach: i32): i32 {
  let best = k;
  for (let i = k - reach; i < k; i++) if (BAND[i] < BAND[best]) best = i;
  return best;
}

/** Lays a polynomial through value k of the row and two neighbours on each side. */
function fitAbout(row: Row<f32>, k: i32): void {
  fitQuartic(row[k - 2], row[k - 1], row[k], row[k + 1], row[k + 2]);
}
